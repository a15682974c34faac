import { sourceText } from '../../base/source-text.ts'

export const languages = ['python', 'node'] as const
export type Language = (typeof languages)[number]

/**
 * The command line of an interpreter. Its code comes by a descriptor of its own, so that code which reads its input
 * finds nothing there; Node is the one that we run on, which is always there.
 */
export function interpreterOf(language: Language): string {
  const by = {
    python: () => `python3 -X utf8 -uB -c ${quoted(sourceText('tools/repl/python.py'))}`,
    node: () => `${quoted(process.execPath)} -e ${quoted(sourceText('tools/repl/node.cjs'))}`,
  }
  return `exec 3<&0 </dev/null; exec ${by[language]()}`
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
