import type { Language, Node, Parser } from 'web-tree-sitter'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

let ready: Promise<Parser> | undefined

/** Hands the tree of a command to `read`, and lets go of it: it lives in the memory of the parser, which nobody sweeps. */
export async function parsed<T>(command: string, read: (root: Node) => Promise<T>): Promise<T | undefined> {
  const parser = await (ready ??= load().catch((error: unknown) => {
    ready = undefined
    throw error
  }))
  const tree = parser.parse(command)
  if (!tree) return undefined
  try {
    return await read(tree.rootNode)
  } finally {
    tree.delete()
  }
}

async function load(): Promise<Parser> {
  const [{ Parser, Language }, engine, grammar] = await Promise.all([
    import('web-tree-sitter'),
    binary('web-tree-sitter', 'web-tree-sitter.wasm'),
    binary('tree-sitter-bash', 'tree-sitter-bash.wasm'),
  ])
  await Parser.init({ wasmBinary: engine })
  const parser = new Parser()
  const bash: Language = await Language.load(grammar)
  return parser.setLanguage(bash)
}

/** The build lays them in dist/wasm, beside its chunks; run from source they are where their package is. */
function binary(from: string, name: string): Promise<Uint8Array> {
  const built = ['.', '..']
    .map((above) => join(import.meta.dirname, above, 'wasm', name))
    .find((path) => existsSync(path))
  return readFile(built ?? fileURLToPath(import.meta.resolve(`${from}/${name}`)))
}
