import { build } from 'esbuild'
import { cpSync, globSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { joinStart } from './start-file.ts'

const root = join(import.meta.dirname, '..')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }

const at = process.argv.indexOf('--outdir')
const outdir = resolve(root, at < 0 ? 'dist' : process.argv[at + 1]!)

rmSync(outdir, { recursive: true, force: true })
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: ['src/main.ts'],
  outdir,
  bundle: true,
  // Each `import()` becomes a chunk that is read only when it is needed.
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  mainFields: ['module', 'main'],
  // Binaries cannot be bundled: they are installed beside us.
  external: ['@vscode/ripgrep', '@napi-rs/keyring', '@lydell/node-pty'],
  define: { TERMAITE_VERSION: JSON.stringify(version) },
  minify: true,
  keepNames: false,
  chunkNames: 'chunks/[name]-[hash]',
  logLevel: 'warning',
  metafile: true,
})
await joinStart(root, join(outdir, 'main.js'), metafile)

// What a model or an interpreter reads is text beside its source, and lies the same way in the bundle: see
// src/base/source-text.ts.
for (const text of globSync('**/*.{md,py,cjs}', { cwd: join(root, 'src') }))
  cpSync(join(root, 'src', text), join(outdir, text))
