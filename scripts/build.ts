import type { BuildOptions, Metafile, Plugin } from 'esbuild'
import type { StartModules } from './start-file.ts'
import { build } from 'esbuild'
import { createHash } from 'node:crypto'
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { chatLibrary } from './chat-library.ts'
import { toCommonJs } from './common-js.ts'
import { licenseTexts, packagesOf } from './licenses.ts'
import { startFile, startModules, startName } from './start-file.ts'

const root = join(import.meta.dirname, '..')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }

const at = process.argv.indexOf('--outdir')
const outdir = resolve(root, at < 0 ? 'dist' : process.argv[at + 1]!)

rmSync(outdir, { recursive: true, force: true })
const common = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  mainFields: ['module', 'main'],
  // Binaries cannot be bundled: they are installed beside us.
  external: ['@vscode/ripgrep', '@napi-rs/keyring', '@lydell/node-pty'],
  define: { TERMAITE_VERSION: JSON.stringify(version) },
  minify: true,
  keepNames: false,
  logLevel: 'warning',
  plugins: [chatLibrary(root)],
} satisfies BuildOptions

const main = 'src/main.ts'
const { metafile: whole } = await build({
  ...common,
  entryPoints: [main],
  outdir,
  splitting: true,
  write: false,
  metafile: true,
})
const start = startModules(main, whole)
// Each `import()` becomes a chunk that is read only when it is needed. The chunks ask the start file for the modules that it has.
const { metafile } = await build({
  ...common,
  entryPoints: [...start.later],
  outdir,
  splitting: true,
  entryNames: 'chunks/[name]-[hash]',
  chunkNames: 'chunks/[name]-[hash]',
  outExtension: { '.js': '.cjs' },
  metafile: true,
  plugins: [fromStart(start), chatLibrary(root)],
})
const chunks = new Map(
  Object.entries(metafile.outputs).flatMap(([path, { entryPoint }]) =>
    entryPoint === undefined ? [] : [[entryPoint, resolve(root, path)] as const],
  ),
)
const files = globSync('chunks/*.cjs', { cwd: outdir })
  .map((path) => join(outdir, path))
  .sort()
await toCommonJs(files, new Set(chunks.values()))
const text = await startFile(root, main, start, {
  chunkOf: (path) => `./${relative(outdir, chunks.get(path)!)}`,
  define: common.define,
})
// The cache of compiled code goes by this name, which changes with every file.
const hash = createHash('sha256').update(text)
for (const path of files) hash.update(readFileSync(path))
writeFileSync(join(outdir, 'main.cjs'), `/*${hash.digest('hex').slice(0, 16)}*/${text}`)

/** Leaves imports of the start's modules in the chunks, by their numbers. */
function fromStart({ numbers }: StartModules): Plugin {
  return {
    name: 'from-start',
    setup({ onResolve }) {
      onResolve({ filter: /^\.{1,2}\// }, ({ kind, path, resolveDir }) => {
        const number = numbers.get(relative(root, join(resolveDir, path)))
        return number === undefined || kind === 'entry-point' ? undefined : { path: startName(number), external: true }
      })
    },
  }
}

// The hub's page: its own files, for a browser.
const page = join(root, 'src', 'faces', 'web', 'page')
const pageEntries = [join(page, 'page.tsx'), join(page, 'style.css')]
const forBrowsers = { ...common, platform: 'browser', target: 'es2022', external: [] } satisfies BuildOptions
const built = await build({
  ...forBrowsers,
  mainFields: ['browser', 'module', 'main'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  entryPoints: pageEntries,
  outdir: join(outdir, 'page'),
  splitting: true,
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  metafile: true,
})
for (const name of globSync('*.{html,svg,png,webmanifest}', { cwd: page }))
  cpSync(join(page, name), join(outdir, 'page', name))
const worker = await writeShell(join(outdir, 'page'), built.metafile)

/**
 * Names the built files in the page, and builds the worker that keeps them. The version is a hash of all files that the page
 * needs to open, so that it changes with each of them and with nothing else.
 */
async function writeShell(folder: string, { outputs }: Metafile): Promise<Metafile> {
  const named = new Map(Object.entries(outputs).map(([path, output]) => [resolve(root, path), output]))
  // A file that is read later, such as the terminal's, has an entry point too.
  const entries = [...named].filter(([, { entryPoint = '' }]) => pageEntries.includes(resolve(root, entryPoint)))
  const shell = new Set<string>()
  const add = (path: string): void => {
    if (shell.has(path)) return
    shell.add(path)
    for (const { path: next, kind } of named.get(path)?.imports ?? [])
      if (kind === 'import-statement') add(resolve(root, next))
  }
  for (const [path] of entries) add(path)
  const index = join(folder, 'index.html')
  const html = entries.reduce(
    (text, [path, { entryPoint = '' }]) => {
      const plain = `/${basename(entryPoint).replace(/\.tsx$/, '.js')}`
      if (!text.includes(`"${plain}"`)) throw new Error(`index.html does not name ${plain}`)
      return text.replace(`"${plain}"`, `"/${basename(path)}"`)
    },
    readFileSync(index, 'utf8'),
  )
  const files = [...shell].map((path) => `/${basename(path)}`).sort()
  const version = createHash('sha256').update(html).update(files.join()).digest('hex').slice(0, 12)
  writeFileSync(index, html.replace('VERSION', version))
  const { metafile } = await build({
    ...forBrowsers,
    format: 'iife',
    entryPoints: [join(root, 'src', 'faces', 'web', 'worker', 'service-worker.ts')],
    outfile: join(folder, 'service-worker.js'),
    define: {
      SHELL_VERSION: JSON.stringify(version),
      SHELL_FILES: JSON.stringify(files),
    },
    metafile: true,
  })
  return metafile
}

// A thread starts from a file of its own, whose imports must not lead to the program's main file.
const thread = 'tools/files/pdf-worker'
const { metafile: ofThread } = await build({
  ...common,
  entryPoints: [`src/${thread}.ts`],
  outfile: join(outdir, `${thread}.js`),
  metafile: true,
})

// The pages of `termaite help`, and the schema of the settings beside its reference.
for (const path of globSync('**/*.{md,json}', { cwd: join(root, 'docs') }))
  cpSync(join(root, 'docs', path), join(outdir, 'docs', path))

// Texts for a model or an interpreter lie beside their source, and in the same way in the bundle: see
// src/base/source-text.ts.
for (const text of globSync('**/*.{md,py,cjs}', { cwd: join(root, 'src') }))
  cpSync(join(root, 'src', text), join(outdir, text))

// The licences of everything that was bundled go with it.
const bundled = [whole, built.metafile, worker, ofThread].flatMap(({ inputs }) => Object.keys(inputs))
writeFileSync(join(outdir, 'licenses.txt'), licenseTexts(root, packagesOf(bundled)))
