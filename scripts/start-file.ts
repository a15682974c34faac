import type { Metafile, Plugin } from 'esbuild'
import { build } from 'esbuild'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

type Outputs = Metafile['outputs']

/**
 * Joins all that a start reads into one file. A splitter makes a chunk for every set of parts that share something, so
 * the more there is to load later, the more files a start would read, at half a millisecond each.
 */
export async function joinStart(root: string, main: string, { outputs }: Metafile): Promise<void> {
  const found = Object.entries(outputs).map(([path, output]) => [resolve(root, path), output] as const)
  const all: Outputs = Object.fromEntries(found)
  const joined = [...neededBy(main, all, root)]
  /** What a chunk exports is exported by the one file, under a name that says which chunk's it was. */
  const named = (path: string, name: string) => `c${joined.indexOf(path)}_${name}`
  const exported = joined.map((path) => {
    const names = all[path]!.exports.map((name) => `${name} as ${named(path, name)}`)
    return `export { ${names.join(', ')} } from ${JSON.stringify(path)}`
  })
  const { outputFiles } = await build({
    stdin: { contents: [...exported, `import ${JSON.stringify(main)}`].join('\n'), resolveDir: dirname(main) },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    packages: 'external',
    minify: true,
    write: false,
    logLevel: 'warning',
    plugins: [later(dirname(main))],
  })
  const late = Object.values(all).flatMap(({ imports }) => imports.filter(({ kind }) => kind === 'dynamic-import'))
  const wanted = new Set(late.map(({ path }) => resolve(root, path)))
  for (const path of joined)
    // Who loads later what is here already is led to it.
    if (wanted.has(path))
      writeFileSync(path, `export{${ownNames(path)}}from${JSON.stringify(relative(dirname(path), main))}`)
    else rmSync(path)
  writeFileSync(main, runnable(outputFiles[0]!.text))
  for (const path of Object.keys(all).filter((path) => !joined.includes(path)))
    writeFileSync(path, runnable(repointed(path)))

  function repointed(path: string): string {
    const from = JSON.stringify(relative(dirname(path), main))
    return readFileSync(path, 'utf8').replaceAll(
      /\b(import|export)(?:\{([^{}]*)\}from)?"(\.[^"]*)"/g,
      (whole, verb: string, list: string | undefined, to: string) => {
        const chunk = resolve(dirname(path), to)
        if (!joined.includes(chunk)) return whole
        if (list === undefined) return `${verb}${from}`
        return `${verb}{${list.split(',').map((one) => own(one, chunk))}}from${from}`
      },
    )
  }

  function ownNames(path: string): string[] {
    return all[path]!.exports.map((name) => own(name, path))
  }

  function own(one: string, chunk: string): string {
    const [name, as = name] = one.split(' as ')
    return `${named(chunk, name!)} as ${as}`
  }
}

/** The files that are read before the first line of `main` runs. */
function neededBy(main: string, all: Outputs, root: string, seen = new Set<string>()): Set<string> {
  seen.add(main)
  for (const { path, kind, external } of all[main]!.imports) {
    const needed = resolve(root, path)
    if (kind === 'import-statement' && !external && !seen.has(needed)) neededBy(needed, all, root, seen)
  }
  return seen
}

/** What is loaded later stays where it is. */
function later(folder: string): Plugin {
  return {
    name: 'later',
    setup({ onResolve }) {
      onResolve({ filter: /^\./ }, ({ kind, path, resolveDir }) =>
        kind === 'dynamic-import'
          ? { path: `./${relative(folder, join(resolveDir, path))}`, external: true }
          : undefined,
      )
    },
  }
}

/** What came from CommonJS asks for `require`, which no module has. */
function runnable(code: string): string {
  const required = /\brequire\b/.test(code)
    ? 'const require=process.getBuiltinModule("node:module").createRequire(import.meta.url);'
    : ''
  return required + builtins(code)
}

/** An import of Node's own modules runs all their getters, which loads much that nobody asked for; taking what is named does not. */
function builtins(code: string): string {
  return code.replaceAll(
    /\bimport(?:\{([^{}]*)\}|\*as ([\w$]+) | ([\w$]+) )from"(node:[^"]+)";?/g,
    (_whole, list: string | undefined, star: string | undefined, name: string | undefined, module: string) =>
      `var ${star ?? name ?? `{${list!.replaceAll(' as ', ':')}}`}=process.getBuiltinModule("${module}");`,
  )
}
