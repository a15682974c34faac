import type { InputOptions, OutputChunk } from 'rolldown'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundle } from './bundle.ts'
import { chatLibrary } from './chat-library.ts'

/** How code of ours is bundled that Node runs. */
export function forNode(root: string) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  return {
    cwd: root,
    platform: 'node',
    resolve: { mainFields: ['module', 'main'] },
    transform: { target: 'node22', define: { TERMAITE_VERSION: JSON.stringify(version) } },
    plugins: [chatLibrary(root)],
  } satisfies InputOptions
}

/**
 * Bundles the program into a folder. All modules that the main module imports at the top are one file, which every run loads. Each
 * `import()` becomes a file that is read when it is needed; what our own agent needs for its first request is one of them, because
 * each file takes time of its own. The files are CommonJS, because only scripts can be compiled ahead with the functions that a start
 * really runs: see bin/termaite.cjs.
 */
export async function bundleProgram(root: string, dir: string): Promise<OutputChunk[]> {
  const { output } = await bundle({
    ...forNode(root),
    input: { main: 'src/main.ts' },
    output: {
      dir,
      format: 'cjs',
      entryFileNames: '[name].cjs',
      chunkFileNames: 'chunks/[name]-[hash].cjs',
      codeSplitting: {
        groups: [
          { name: 'main', tags: ['$initial'], priority: 1 },
          { name: 'native', test: /src[\\/]native[\\/]native-agent\.ts$/ },
        ],
      },
      strict: true,
      externalLiveBindings: false,
      // An import() of a script warns that it is experimental.
      dynamicImportInCjs: false,
      // Node reads a text without other characters in a third of the time.
      charset: 'ascii',
    },
  })
  return output.filter((file) => file.type === 'chunk')
}
