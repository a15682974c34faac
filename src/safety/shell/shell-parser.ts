import type { Node } from 'web-tree-sitter'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Language, Parser } from 'web-tree-sitter'

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

/** Words that are more than a program's name to a shell. */
const reserved = new Set(
  'if then else elif fi for while until do done case esac in select function time coproc export declare typeset local readonly unset'.split(
    ' ',
  ),
)

const plain = /^[ \t]*[\w./:,@%+-][\w./:,@%+=-]*(?:[ \t]+[\w./:,@%+=-]+)*[ \t]*$/

/** The words of a command that has no syntax at all: most have none, and the parser costs thirty milliseconds and twelve megabytes. */
export function plainWords(command: string): string[] | undefined {
  if (!plain.test(command)) return undefined
  const words = command.trim().split(/[ \t]+/)
  return reserved.has(words[0]!) || words[0]!.includes('=') ? undefined : words
}
