import type { Ask } from '../../../core/talk/question.ts'
import type { Parsed } from '../../arguments/cli-command.ts'
import type { Io } from '../../../core/io.ts'
import { wordWrapped } from '../../../base/text/word-wrap.ts'
import { print, say, UsageError } from '../../../core/io.ts'
import { personAt } from '../../../questions/terminal-questions.ts'
import { homeOf } from '../../../home/place.ts'
import { enabledAgents } from '../../../settings/enabled-agents.ts'
import { readSettings } from '../../../settings/settings.ts'
import { runSetup } from '../../../desk/setup.ts'

export async function run(io: Io, parsed: Parsed): Promise<number> {
  const { values, words } = parsed
  if (values.use) return (await import('./belongings.ts')).use(io, parsed)
  const alone = ['undo', 'dry-run', 'json'].find((flag) => values[flag])
  if (alone !== undefined) throw new UsageError(`setup: --${alone} belongs to --use.`)
  if (words.length > 0) throw new UsageError(`setup: found "${words[0]}", which belongs to --use.`)
  const home = homeOf(io.env)
  const usual = usualAnswers(values.yes === true)
  const end = await runSetup({
    say: (text, how) =>
      how === 'error'
        ? say(io, wordWrapped(`termaite: ${text}`, io.err.columns))
        : print(io, wordWrapped(text, io.out.columns)),
    ask: values.yes === true ? usual : personAt(io, usual),
    attended: values.yes !== true && !io.piped && io.in.isTTY === true,
    env: io.env,
    cwd: io.cwd,
    home,
    clock: io.clock,
    signal: io.signal,
  })
  if (end !== 'written' || enabledAgents(await readSettings({ home }, { env: io.env })).length === 0) return 1
  print(io, 'Try: termaite -p "what is this project?"')
  return 0
}

/** The default answer is the one that a question suggests, otherwise its first option; nothing is changed without a yes. */
function usualAnswers(yes: boolean): Ask {
  return async ({ about, text, options, marked, enter }, withdrawn) => {
    if (withdrawn.aborted) return undefined
    if (about === 'permission' && !yes)
      throw new UsageError(`${text} There is no terminal to ask in. To do it without asking, add --yes.`)
    return [...(marked ?? [enter ?? options[0]!.id])]
  }
}
