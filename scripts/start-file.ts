import type { Metafile } from 'esbuild'
import { transform } from 'esbuild'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { moduleScript } from './common-js.ts'

/** The modules that the program needs before anything is loaded later, each with the number by which the others ask for it. */
export type StartModules = {
  numbers: ReadonlyMap<string, number>
  /** The modules that are loaded later. */
  later: readonly string[]
  /** The package's module that an `import()` of a module of the start leads to; undefined for one that is installed beside us. */
  packageOf(path: string, name: string): string | undefined
}

/** Divides all modules into those that the main module imports, also by way of others, and those that are entries of chunks. */
export function startModules(main: string, { inputs }: Metafile): StartModules {
  const start = new Set<string>()
  const visit = (path: string): void => {
    if (start.has(path)) return
    start.add(path)
    for (const { path: next, kind, external } of inputs[path]!.imports)
      if (kind === 'import-statement' && !external && next in inputs) visit(next)
  }
  visit(main)
  const foreign = [...start].find((path) => !path.startsWith('src/'))
  if (foreign !== undefined) throw new Error(`the start imports ${foreign}: load it later, with import()`)
  const loaded = Object.values(inputs).flatMap(({ imports }) =>
    imports.filter(({ kind, external }) => kind === 'dynamic-import' && !external).map(({ path }) => path),
  )
  const later = [...new Set(loaded)].filter((path) => !start.has(path)).sort()
  return {
    numbers: new Map([...start].sort().map((path, number) => [path, number])),
    later,
    packageOf: (path, name) =>
      inputs[path]!.imports.find(
        ({ kind, original, external }) => kind === 'dynamic-import' && original === name && !external,
      )?.path,
  }
}

/** The name under which chunks require a module of the start. */
export const startName = (number: number) => `start:${number}`

/**
 * Makes the one file that every run loads. Each module in it is a function that runs when one of its exports is first used, so that
 * a run evaluates only the modules that it needs, and its compiled code holds only their functions. No module may do anything when
 * it is evaluated that others rely on, and no imports may go in a circle: test/layers.test.ts looks for circles.
 */
export async function startFile(
  root: string,
  main: string,
  { numbers, packageOf }: StartModules,
  parts: { chunkOf(path: string): string; define: Record<string, string> },
): Promise<string> {
  const builtins = new Map<string, number>()
  const numberOf = (from: string, name: string): number => {
    if (!name.startsWith('node:')) return numbers.get(join(dirname(from), name))!
    const known = builtins.get(name) ?? numbers.size + builtins.size
    builtins.set(name, known)
    return known
  }
  const modules = await Promise.all([...numbers.keys()].map((path) => lazyModule(root, path)))
  const makers = [
    ...modules,
    ...[...builtins.keys()].map((name) => `()=>process.getBuiltinModule(${JSON.stringify(name)})`),
  ]
  const { code } = await transform(
    `const made=[];const makers=[${makers.join()}];
     function ${ask}(number){return made[number]??=makers[number]()}
     module.exports=${ask};${ask}.made=made;${ask}(${numbers.get(main)})`,
    {
      format: 'cjs',
      platform: 'node',
      target: 'node22',
      minify: true,
      // Installed packages are required: see toCommonJs.
      supported: { 'dynamic-import': false },
      sourcefile: 'module.mjs',
      logLevel: 'warning',
      logOverride: { 'commonjs-variable-in-esm': 'silent' },
    },
  )
  return moduleScript(code)

  async function lazyModule(root: string, path: string): Promise<string> {
    const source = readFileSync(join(root, path), 'utf8')
    if (source.includes(ask)) throw new Error(`${path} uses the name ${ask}, which the build needs`)
    const { code } = await transform(source, {
      loader: 'ts',
      format: 'cjs',
      platform: 'node',
      target: 'node22',
      define: { ...parts.define, 'import.meta.dirname': '__dirname' },
      logLevel: 'warning',
    })
    return lazy(path, code)
  }

  function lazy(path: string, code: string): string {
    const [, runtime, exported, , after] = wholeModule.exec(code) ?? [undefined, '', '', '', code]
    const body = (after ?? '').replace(closingNote, '')
    // esbuild writes its own functions in front of each module, most of which are for the exports alone.
    const own = /\b__(?!dirname\b)[a-z]\w*\(/i.test(body) ? runtime : ''
    const asked = new Map<string, number>()
    const text = body
      .replaceAll(required, (_whole, name: string, from: string) => {
        asked.set(name, numberOf(path, from))
        return ''
      })
      .replaceAll(/\bimport\("([^"]+)"\)/g, (whole, from: string) => loaded(path, from) ?? whole)
    if (/\brequire\("[^"]*\.ts"\)/.test(text.replaceAll(/\(\)=>require\("[^"]*"\)/g, '')))
      throw new Error(`${path} imports a module in a form that startFile does not know`)
    const names = [...(exported ?? '').matchAll(/^\s*(\w+): \(\) => ([\w.]+),?$/gm)].map(([, as, name]) =>
      name!.includes('.') ? `get ${as}(){return ${name}}` : `${as}:${name}`,
    )
    return `()=>{${own}${asking(`${text};return{${names.join()}}`, asked)}}`
  }

  function loaded(path: string, from: string): string | undefined {
    if (from.startsWith('node:')) return `Promise.resolve(process.getBuiltinModule(${JSON.stringify(from)}))`
    const place = from.startsWith('.') ? join(dirname(path), from) : packageOf(path, from)
    if (place === undefined) return undefined
    const number = numbers.get(place)
    const module = number === undefined ? `require("${parts.chunkOf(place)}")` : `${ask}(${number})`
    return `Promise.resolve().then(()=>${module})`
  }
}

/** The function by which the modules of the start get each other. */
const ask = '$_'

/** A module as esbuild writes it: its own functions, the exports, and the code. */
const wholeModule =
  /^([^]*?)var stdin_exports = \{\};\n__export\(stdin_exports, \{\n([^}]*)\}\);\n(module\.exports = .*\n)([^]*)$/
const closingNote = /\/\/ Annotate the CommonJS export names for ESM import in node:\n[^]*$/
const required = /^var (import_\w+) = require\("([^"]+)"\);\n/gm

/** Puts a question for the module in the place of each name that it was imported as. */
function asking(text: string, asked: ReadonlyMap<string, number>): string {
  return text.replaceAll(
    /\b(new )?(import_\w+)\.(\w+)/g,
    (whole, made: string | undefined, name: string, what: string) => {
      const number = asked.get(name)
      if (number === undefined) return whole
      const found = `${ask}(${number}).${what}`
      return made === undefined ? found : `new (${found})`
    },
  )
}
