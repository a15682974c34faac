import type { Framework } from '../../../core/talk/framework.ts'
import type { SystemSpec } from '../../../core/work/system-spec.ts'
import { frameworkNames } from '../../../core/talk/framework.ts'
import { shortened } from './request.ts'

/** The six labels, as a model is asked to choose among them. */
const labels: Record<Framework, string> = {
  direct: 'Simple, one-tool task',
  consensus: 'Open-ended, multiple valid paths',
  sequential: 'Debugging/diagnosis',
  decompose: 'Large multi-part feature',
  reflect: 'Safety-critical, needs verification',
  script: 'Complex logic, better as code',
}

/** A long request says in its beginning and its end what it wants. */
const longest = 2000

/** What is installed decides whether something is one step or a question of ways. */
export function labelPrompt(request: string, { binaries, runtimes }: SystemSpec): string {
  const installed = [...Object.keys(runtimes), ...Object.keys(binaries)].sort()
  return [
    `Given this request: ${JSON.stringify(shortened(request, longest))}`,
    'Which thinking framework is most appropriate?',
    ...frameworkNames.map((name) => `- ${name.toUpperCase()}: ${labels[name]}`),
    `Installed on this machine: ${installed.join(', ') || 'nothing that is known'}.`,
    'Do not act on the request. Answer with one of the six words and nothing else.',
  ].join('\n')
}

const names = frameworkNames.join('|')

/** What was chosen, however it was dressed; undefined when no one label stands out. */
export function labelIn(answer: string): Framework | undefined {
  const lines = answer.split('\n').map((line) => line.replace(/[^\w]+/g, ' ').trim())
  // Alone on a line, the last one counts: whoever reasons first decides at the end.
  const alone = lines.findLast((line) =>
    new RegExp(`^((the )?(answer|framework)( is)? )?(FW_)?(${names})$`, 'i').test(line),
  )
  if (alone !== undefined) return only(alone, 'gi')
  // Small letters are ordinary words: "a script would be too direct".
  return (
    only(
      answer.replaceAll(/\b(?:fw_)?\w+\b/g, (word) => (word === word.toUpperCase() ? word : ' ')),
      'gi',
    ) ?? only(answer, 'gi')
  )
}

function only(text: string, flags: string): Framework | undefined {
  const found = [...text.matchAll(new RegExp(`(?<![a-z])(?:FW_)?(${names})(?![a-z])`, flags))]
  const distinct = new Set(found.map((match) => match[1]!.toLowerCase() as Framework))
  return distinct.size === 1 ? [...distinct][0] : undefined
}
