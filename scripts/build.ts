import type { InputOptions, OutputChunk } from 'rolldown'
import { bundleAsync } from 'lightningcss'
import { createHash } from 'node:crypto'
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { bundle } from './bundle.ts'
import { licenseTexts, packagesOf } from './licenses.ts'
import { bundleProgram, forNode } from './program-bundle.ts'

const root = join(import.meta.dirname, '..')

const at = process.argv.indexOf('--outdir')
const outdir = resolve(root, at < 0 ? 'dist' : process.argv[at + 1]!)

rmSync(outdir, { recursive: true, force: true })
const forBrowsers = {
  cwd: root,
  platform: 'browser',
  transform: { target: 'es2022' },
} satisfies InputOptions

const program = await bundleProgram(root, outdir)
// The cache of compiled code goes by this name, which changes with every file.
const hash = createHash('sha256')
for (const { fileName, code } of program) hash.update(`${fileName}\0${code}\0`)
writeFileSync(join(outdir, 'build.txt'), hash.digest('hex').slice(0, 16))

// A thread starts from a file of its own, whose imports must not lead to the program's main file.
const thread = 'native/tools/files/pdf-worker'
const ofThread = await bundle({
  ...forNode(root),
  input: `src/${thread}.ts`,
  output: { file: join(outdir, `${thread}.js`), format: 'esm', codeSplitting: false },
})

// The hub's page: its own files, for a browser.
const page = join(root, 'src', 'page', 'browser')
const ofPage = await bundle({
  ...forBrowsers,
  input: { page: join(page, 'page.tsx') },
  output: {
    dir: join(outdir, 'page'),
    format: 'esm',
    // By this form of name src/page/page-files.ts knows the files that never change.
    hashCharacters: 'hex',
    entryFileNames: '[name]-[hash:12].js',
    chunkFileNames: '[name]-[hash:12].js',
    assetFileNames: '[name]-[hash:12][extname]',
  },
  plugins: [
    {
      name: 'style-sheet',
      async generateBundle() {
        this.emitFile({ type: 'asset', name: 'style.css', source: await styleSheet(join(page, 'style.css')) })
      },
    },
  ],
})
for (const name of globSync('*.{html,svg,png,webmanifest}', { cwd: page }))
  cpSync(join(page, name), join(outdir, 'page', name))
const worker = await writeShell(join(outdir, 'page'))

/** The page's style sheet with all that it imports, from packages too, because rolldown bundles no style sheets. */
async function styleSheet(filename: string): Promise<Uint8Array> {
  const { code } = await bundleAsync({
    filename,
    minify: true,
    // The colours are written once for light and dark, as browsers of the last years read them.
    targets: { chrome: 123 << 16, firefox: 120 << 16, safari: (17 << 16) | (5 << 8) },
    resolver: {
      resolve: (specifier, from) =>
        specifier.startsWith('.') ? join(dirname(from), specifier) : createRequire(from).resolve(specifier),
    },
  })
  return code
}

/**
 * Names the built files in the page, and builds the worker that keeps them. The version is a hash of all files that the page
 * needs to open, so that it changes with each of them and with nothing else.
 */
async function writeShell(folder: string) {
  const script = ofPage.output.find((file) => file.type === 'chunk' && file.isEntry) as OutputChunk
  const style = ofPage.output.find((file) => file.type === 'asset')!
  // A file that is read later, such as the terminal's, is not among the imports.
  const files = [script.fileName, ...script.imports, style.fileName].map((name) => `/${name}`).sort()
  const index = join(folder, 'index.html')
  const html = [
    ['/page.js', script.fileName],
    ['/style.css', style.fileName],
  ].reduce(
    (text, [plain, name]) => {
      if (!text.includes(`"${plain}"`)) throw new Error(`index.html does not name ${plain}`)
      return text.replace(`"${plain}"`, `"/${name}"`)
    },
    readFileSync(index, 'utf8'),
  )
  const version = createHash('sha256').update(html).update(files.join()).digest('hex').slice(0, 12)
  writeFileSync(index, html.replace('VERSION', version))
  const define = { SHELL_VERSION: JSON.stringify(version), SHELL_FILES: JSON.stringify(files) }
  return bundle({
    ...forBrowsers,
    input: 'src/page/worker/service-worker.ts',
    transform: { ...forBrowsers.transform, define },
    output: { file: join(folder, 'service-worker.js'), format: 'iife' },
  })
}

// The pages of `termaite help`, and the schema of the settings beside its reference.
for (const path of globSync('**/*.{md,json}', { cwd: join(root, 'docs') }))
  cpSync(join(root, 'docs', path), join(outdir, 'docs', path))

// Texts for a model or an interpreter lie beside their source, and in the same way in the bundle: see
// src/base/source-text.ts.
for (const text of globSync('**/*.{md,py,cjs}', { cwd: join(root, 'src') }))
  cpSync(join(root, 'src', text), join(outdir, text))

// The licences of everything that was bundled go with it.
const bundled = [program, ofThread.output, ofPage.output, worker.output]
  .flat()
  .flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
writeFileSync(join(outdir, 'licenses.txt'), licenseTexts(root, packagesOf(bundled.map((path) => relative(root, path)))))
