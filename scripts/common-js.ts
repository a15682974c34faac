import { transform } from 'esbuild'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** All exports of a built module, after which only the licences of its parts follow. */
const exportList = /export\{([^{}]*)\}(?:from"([^"]*)")?;?\s*(?=(?:\/\*(?:[^*]|\*(?!\/))*\*\/\s*)*$)/

/**
 * Turns the built modules into CommonJS, which bin/termaite.cjs loads: Node's loader of ES modules is a part of each start
 * that CommonJS does without, and only scripts can be compiled ahead with the functions that a start really runs.
 */
export async function toCommonJs(paths: readonly string[], entries: ReadonlySet<string>): Promise<void> {
  const modules = paths.map((path) => ({ path, text: builtins(readFileSync(path, 'utf8')) }))
  checkOrder(modules)
  const wanted = wantedNames(modules, entries)
  await Promise.all(
    modules.map(async ({ path, text }) => writeFileSync(path, await commonJs(text, wanted.get(path) ?? 'all'))),
  )
}

/** Throws where modules need each other: CommonJS would give one of them the other before it has run. */
function checkOrder(modules: readonly { path: string; text: string }[]): void {
  const needs = new Map(
    modules.map(({ path, text }) => {
      const found = text.matchAll(/\b(?:import|export)(?:[^"'`();]*from)?"(\.[^"]*)"/g)
      return [path, [...found].map(([, to]) => resolve(dirname(path), to!))]
    }),
  )
  const whole = new Set<string>()
  const visit = (path: string, above: readonly string[]): void => {
    if (above.includes(path)) throw new Error(`these built files need each other: ${[...above, path].join(', ')}`)
    if (whole.has(path)) return
    for (const next of needs.get(path) ?? []) visit(next, [...above, path])
    whole.add(path)
  }
  for (const { path } of modules) visit(path, [])
}

/** The names that modules import from each other by name; an entry, which is loaded later, needs all of its own. */
function wantedNames(
  modules: readonly { path: string; text: string }[],
  entries: ReadonlySet<string>,
): Map<string, Set<string>> {
  const wanted = new Map<string, Set<string>>()
  for (const { path, text } of modules) {
    const place = (to: string) => resolve(dirname(path), to)
    for (const [, list, to] of text.matchAll(/\b(?:import|export)\{([^{}]*)\}from"(\.[^"]*)"/g)) {
      const names = wanted.get(place(to!)) ?? new Set()
      for (const one of list!.split(',')) names.add(one.split(' as ')[0]!)
      wanted.set(place(to!), names)
    }
  }
  for (const path of entries) wanted.delete(path)
  return wanted
}

async function commonJs(module: string, wanted: Set<string> | 'all'): Promise<string> {
  // A module that was CommonJS before has this one export.
  const text = module.replace(
    /\bexport default ([\w$]+\(\));?\s*(?=\/\*|$)/,
    'var __default=$1;export{__default as default};',
  )
  const [whole = '', list = '', from] = exportList.exec(text) ?? []
  const exported = list
    .split(',')
    .filter((one) => one !== '')
    .map((one) => one.split(' as ') as [string, string?])
    .filter(([name, as = name]) => wanted === 'all' || wanted.has(as))
  const imported =
    from === undefined ? '' : `import{${exported.map(([name], at) => `${name} as n${at}`)}}from"${from}";`
  // A getter is as live as an export is.
  const getters = exported.map(([name, as = name], at) => `get ${as}(){return ${from === undefined ? name : `n${at}`}}`)
  const body = `${imported}module.exports={${getters.join()}};${text.replace(whole, '')}`
    .replaceAll(/\bimport\("((?:\.|start:)[^"]*)"\)/g, 'Promise.resolve().then(()=>require("$1"))')
    .replaceAll(/\bimport\("(node:[^"]*)"\)/g, 'Promise.resolve(process.getBuiltinModule("$1"))')
  const { code } = await transform(body, {
    format: 'cjs',
    platform: 'node',
    target: 'node22',
    minifyWhitespace: true,
    minifySyntax: true,
    // Installed packages are required too, because an import() of a script warns that it is experimental. By this name esbuild
    // gives their exports the shape that an import by an ES module has.
    supported: { 'dynamic-import': false },
    sourcefile: 'module.mjs',
    define: { 'import.meta.dirname': '__dirname', 'import.meta.url': '__url' },
    logLevel: 'warning',
    logOverride: { 'commonjs-variable-in-esm': 'silent' },
  })
  if (code.includes('__toCommonJS'))
    throw new Error('a built module has exports in a form that toCommonJs does not know')
  const late = lateModules(body)
  const address = /\b__url\b/.test(code) ? 'const __url=require("node:url").pathToFileURL(__filename).href;' : ''
  const lazy = code.replaceAll(
    /=require\("((?:node|start):[^"]+)"\)/g,
    (found, name: string) => late.get(name) ?? found,
  )
  return moduleScript(address + lazy)
}

/**
 * A script whose value is the function of a CommonJS module. The file holds the whole of it, because V8 would copy a long text
 * that bin/termaite.cjs puts together. The start reads the file as single bytes. esbuild writes every other character as an escape,
 * except in patterns and in raw templates, of which we make patterns: there the escape matches the same character.
 */
export function moduleScript(code: string): string {
  const ascii = code.replaceAll(/[^\x00-\x7f]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return `(function(exports,require,module,__filename,__dirname){"use strict";${ascii}\n})`
}

/** For each module of Node or of the start that is imported by names: an object that loads the module when one of the names is used. */
function lateModules(text: string): Map<string, string> {
  const names = new Map<string, Set<string>>()
  for (const [, list, name] of text.matchAll(/\bimport\{([^{}]*)\}from"((?:node|start):[^"]+)"/g)) {
    const known = names.get(name!) ?? new Set()
    for (const one of list!.split(',')) known.add(one.split(' as ')[0]!)
    names.set(name!, known)
  }
  const getters = ([name, known]: [string, Set<string>]): [string, string] => {
    const module = name.startsWith('node:') ? `process.getBuiltinModule("${name}")` : `require("${name}")`
    return [name, `={${[...known].map((one) => `get ${one}(){return ${module}.${one}}`).join()}}`]
  }
  return new Map([...names].map(getters))
}

/** Modules that Node has loaded before it runs the first line of any program. */
const loadedByNode = /^node:(?:buffer|events|fs|module|path|process|timers|url|util|vm)$/

/**
 * An import of Node's own modules runs all their getters, which loads much that nobody asked for; taking what is named does not. The
 * names that come from a module that Node has not loaded yet stay imports: `lateModules` makes them load it when they are used.
 */
function builtins(code: string): string {
  return code.replaceAll(
    /\bimport(?:\{([^{}]*)\}|\*as ([\w$]+) | ([\w$]+) )from"(node:[^"]+)";?/g,
    (whole, list: string | undefined, star: string | undefined, name: string | undefined, module: string) =>
      list !== undefined && !loadedByNode.test(module)
        ? whole
        : `var ${star ?? name ?? `{${list!.replaceAll(' as ', ':')}}`}=process.getBuiltinModule("${module}");`,
  )
}
