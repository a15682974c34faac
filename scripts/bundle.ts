import type { InputOptions, OutputChunk, OutputOptions, Plugin, RolldownOutput } from 'rolldown'
import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, relative } from 'node:path'
import { build } from 'rolldown'

type Manifest = { dependencies?: Record<string, string>; optionalDependencies?: Record<string, string> }

/** Modules that bundled packages ask for, and that they do without where they are missing. */
const dispensable = ['pg-native', 'bufferutil', 'utf-8-validate']

/**
 * Bundles and writes files for Node or for browsers. Packages that are installed beside us stay imports: they hold native code, or
 * find programs beside themselves. Every other module must become a part of the bundle.
 */
export async function bundle(
  options: InputOptions & { cwd: string; platform: 'node' | 'browser'; output: OutputOptions },
): Promise<RolldownOutput> {
  const isForNode = options.platform === 'node'
  const installed = isForNode ? installedWith(options.cwd) : []
  const isThere = (name: string): boolean =>
    (isForNode && isBuiltin(name)) || installed.some((one) => name === one || name.startsWith(`${one}/`))
  const foreign = foreignModules()
  const built = await build({
    external: installed,
    ...options,
    output: { minify: true, comments: { annotation: false, jsdoc: false }, ...options.output },
    // Many modules are imported at the top by some and later by others; a module that is not found is reported below.
    checks: { ineffectiveDynamicImport: false, unresolvedImport: false },
    plugins: [options.plugins, foreign.plugin],
  })
  const missing = foreign.found.find(({ name }) => !isThere(name) && !dispensable.includes(name))
  if (missing !== undefined)
    throw new Error(
      `${relative(options.cwd, missing.source)} imports ${missing.name}, so ${missing.file} asks for a module that the installed package does not have: let it be bundled, or make it a dependency.`,
    )
  const circle = circleAmong(built.output.filter((file) => file.type === 'chunk'))
  if (circle !== undefined)
    throw new Error(
      `Built files import each other in a circle (${circle.join(' → ')}), so one of them would run before what it imports is there: change the groups of the bundle, or import later.`,
    )
  return built
}

/** Built files that load each other at their top, from the first one back to it. A file that is imported when it is needed is not among them. */
function circleAmong(chunks: readonly OutputChunk[]): string[] | undefined {
  const importsOf = new Map(chunks.map(({ fileName, imports }) => [fileName, imports]))
  const done = new Set<string>()
  const from = (file: string, before: readonly string[]): string[] | undefined => {
    if (before.includes(file)) return [...before.slice(before.indexOf(file)), file]
    if (done.has(file)) return undefined
    for (const next of importsOf.get(file) ?? []) {
      const circle = from(next, [...before, file])
      if (circle !== undefined) return circle
    }
    done.add(file)
    return undefined
  }
  for (const file of importsOf.keys()) {
    const circle = from(file, [])
    if (circle !== undefined) return circle
  }
  return undefined
}

/** The packages that npm installs with ours. */
function installedWith(root: string): string[] {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
  return Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })
}

/** Collects the modules that built files ask for and that are not bundled, with the built file and the source that imports them. */
function foreignModules(): { plugin: Plugin; found: { name: string; source: string; file: string }[] } {
  const found: { name: string; source: string; file: string }[] = []
  const plugin: Plugin = {
    name: 'foreign-modules',
    generateBundle(_options, files) {
      for (const file of Object.values(files))
        for (const source of file.type === 'chunk' ? file.moduleIds : []) {
          const { importedIds = [], dynamicallyImportedIds = [] } = this.getModuleInfo(source) ?? {}
          for (const name of [...importedIds, ...dynamicallyImportedIds])
            if (this.getModuleInfo(name)?.code == null) found.push({ name, source, file: file.fileName })
        }
    },
  }
  return { plugin, found }
}
