import type { Language, Node, Parser } from 'web-tree-sitter'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

let ready: Promise<Parser> | undefined

/** Passes the tree of a command to `read` and frees it: the tree lives in the parser's memory, which is not garbage-collected. */
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

/** The build puts the files into dist/wasm, beside its chunks; from source they are in their packages. */
function binary(from: string, name: string): Promise<Uint8Array> {
  const built = ['.', '..']
    .map((above) => join(import.meta.dirname, above, 'wasm', name))
    .find((path) => existsSync(path))
  return readFile(built ?? fileURLToPath(import.meta.resolve(`${from}/${name}`)))
}

/** Words that have a meaning of their own in the shell's syntax. */
const reserved = new Set(
  'if then else elif fi for while until do done case esac in select function time coproc export declare typeset local readonly unset'.split(
    ' ',
  ),
)

const plain = /^[ \t]*[\w./:,@%+-][\w./:,@%+=-]*(?:[ \t]+[\w./:,@%+=-]+)*[ \t]*$/

/** The words of a command without any shell syntax. Most commands have none, and the parser costs 30 ms and 12 MB. */
export function plainWords(command: string): string[] | undefined {
  if (!plain.test(command)) return undefined
  const words = command.trim().split(/[ \t]+/)
  return reserved.has(words[0]!) || words[0]!.includes('=') ? undefined : words
}
