import type { Event } from '../../core/talk/entry.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { SystemSpec } from '../../core/profile/system-spec.ts'
import type { FrameworkDefinition } from '../framework-agent.ts'
import type { RoleAssignment } from '../resources.ts'
import type { ThinkingTurn } from '../thinking-turn.ts'
import { isForbidden } from '../../core/work/perform.ts'
import { oneOf, optional, string } from '../../core/data/shape.ts'
import { failed } from '../../core/talk/outcome.ts'
import { SteppingBack } from '../consensus/council.ts'
import { frameworkAgent, giveUp } from '../framework-agent.ts'
import { resultCheck } from '../goal-check.ts'
import { answerShape } from '../../core/data/json-answer.ts'
import { clipped, firstLine, quoted } from '../prompt-text.ts'
import { assign } from '../resources.ts'
import { note } from '../thinking-turn.ts'

type Language = 'python' | 'node'

/** `by`: the agent that wrote it; `machine`: it examines the machine itself, not the project. */
type Script = { language: Language; code: string; by: string; machine?: boolean }

/** The result of a script; if it was not allowed, or could not be run at all, that says nothing about the next script. */
type ScriptRun = { script: Script; printed: string; ended: 'well' | 'badly' | 'not allowed' | 'not run' }

const roles = ['coder']

/** How often in a row a script may fail. */
const mostFailures = 2

/**
 * The framework for requests whose answer can be computed: an agent writes a throw-away script, termaite runs it, and the actor answers
 * with its result.
 */
export const script: FrameworkDefinition = {
  asks: (resources) => assign(roles, resources),
  rounds: 1,
  agent: (resources) => frameworkAgent('script', resources, answerByScript),
  advice: { asks: (resources) => assign(roles, resources), advise: adviseScript },
}

/** Has a script written, and runs it with read access only; if it cannot be run so, the caller runs it. */
async function* adviseScript(thinking: ThinkingTurn): AsyncGenerator<Event, Outcome> {
  const [coder] = assign(roles, thinking.resources) as [RoleAssignment]
  yield thinking.phase('writing a script')
  const written = yield* askForScript(coder, [], thinking)
  if (thinking.over) return thinking.over
  if ('none' in written) return failed('unmet', written.none)
  yield thinking.phase('running the script')
  const run = yield* runScript(written, thinking)
  if (thinking.over) return thinking.over
  const how: Record<ScriptRun['ended'], string> = {
    well: 'This script was run and printed the result below.',
    badly: 'This script was run and failed; fix it before you use it.',
    'not allowed': 'This script was written but not run, because advice may only read. Run it yourself if you may.',
    'not run': 'This script was written but could not be run.',
  }
  return { ok: true, text: [how[run.ended], ...runTexts(run, longestResult)].join('\n\n') }
}

async function* answerByScript(thinking: ThinkingTurn): AsyncGenerator<Event, Outcome> {
  const failed: ScriptRun[] = []
  let [coder] = assign(roles, thinking.resources) as [RoleAssignment]
  for (;;) {
    yield thinking.phase(failed.length === 0 ? 'writing a script' : 'fixing the script')
    const written = yield* askForScript(coder, failed, thinking)
    if (thinking.over) return thinking.over
    if ('none' in written) return yield* actDirectly(`no script (${sentence(written.none)})`, failed, thinking)
    // The agent that wrote the script also fixes it.
    coder = { ...coder, agent: written.by }
    yield thinking.phase('running the script')
    const run = yield* runScript(written, thinking)
    if (thinking.over) return thinking.over
    if (run.ended === 'not allowed' || run.ended === 'not run')
      return yield* actDirectly(
        `the script was ${run.ended}${isAboutMachine(written) ? ' where it can see the machine' : ''} (${sentence(run.printed)})`,
        [...failed, run],
        thinking,
      )
    thinking.passed = run.ended === 'well'
    if (thinking.passed) {
      yield thinking.phase('answering with its result')
      return yield* thinking.act(answerPrompt(run, thinking))
    }
    failed.push(run)
    const error = errorLine(run)
    if (failed.length === mostFailures) return yield* stepBack(failed, error, thinking)
    yield note(`the script failed (${error}); ${written.by} fixes it`)
  }
}

/** The script failed twice: the council is asked for other approaches; if it knows none, the actor works without help. */
async function* stepBack(
  runs: readonly ScriptRun[],
  error: string,
  thinking: ThinkingTurn,
): AsyncGenerator<Event, Outcome> {
  const back = new SteppingBack(thinking)
  const failures = [{ approach: { name: 'a throw-away script', how: '' }, evidence: error }]
  const first = yield* back.next(failures)
  if (thinking.over) return thinking.over
  const why = `the script failed ${mostFailures} times (${error})`
  if (!first) return yield* actDirectly(why, runs, thinking)
  yield note(`${why}; stepping back to ${first.name}`)
  const pursuit = yield* back.pursue(first, failures, { check: resultCheck })
  if ('outcome' in pursuit) return pursuit.outcome
  const tried = [{ what: 'a throw-away script', seen: error }, ...pursuit.tried]
  return yield* giveUp(clipped(thinking.turn.prompt, 300), tried)
}

/** Asks for a script, or for a better one than those that failed; `none` says why there is no script. */
async function* askForScript(
  coder: RoleAssignment,
  failed: readonly ScriptRun[],
  thinking: ThinkingTurn,
): AsyncGenerator<Event, Script | { none: string }> {
  const languages = languagesOf(thinking.resources.machine.spec)
  const shape = answerShape({
    language: optional(oneOf(...languages)),
    code: optional(string()),
    about: optional(oneOf('project', 'machine')),
    why: optional(string()),
  })
  const answer = yield* thinking.askFor(coder, scriptPrompt(languages, failed, thinking), shape)
  const { by } = answer
  if (!answer.ok) {
    const found = scriptIn(answer.words ?? '', languages)
    return found ? { ...found, by } : { none: `no agent wrote one: ${answer.why}` }
  }
  const { language = languages[0]!, code = '', about, why } = answer.value
  if (code.trim() === '') return { none: why || 'it would be no help' }
  return { language, code, by, machine: about === 'machine' }
}

/**
 * The languages that are possible for a script here, the better one for data first; Node is always possible, because termaite runs on it.
 */
const languagesOf = ({ runtimes }: Pick<SystemSpec, 'runtimes'>): Language[] =>
  runtimes.python ? ['python', 'node'] : ['node']

const fenced = /^[ \t]*```+[ \t]*(py(?:thon)?3?|js|javascript|node(?:js)?)[ \t]*\n([^]*?)\n[ \t]*```/gim

/** The last script in an answer without JSON. */
function scriptIn(words: string, languages: readonly Language[]): Omit<Script, 'by'> | undefined {
  const [, named = '', code = ''] = [...words.matchAll(fenced)].at(-1) ?? []
  const language: Language = /^py/i.test(named) ? 'python' : 'node'
  return code.trim() !== '' && languages.includes(language) ? { language, code } : undefined
}

/** Runs a script in the same interpreter as the session's other scripts, under the rules for every tool. */
async function* runScript(written: Script, { resources, turn }: ThinkingTurn): AsyncGenerator<Event, ScriptRun> {
  const { language, code } = written
  const { tools } = resources
  // Behind a wall a script sees the sandbox, and its numbers would be taken for the machine's.
  const outside = isAboutMachine(written) && (await tools.hidesMachine?.(turn)) === true
  const result = yield* tools.use('repl', outside ? { language, code, outside } : { language, code }, turn)
  const exit = (result.data as { exit?: number | string } | undefined)?.exit
  const ended = isForbidden(result) ? 'not allowed' : !result.ok ? 'not run' : exit === 0 ? 'well' : 'badly'
  return { script: written, printed: result.text, ended }
}

/** Calls with which code examines the machine, whatever its author says about it. */
const machineCalls =
  /\/proc\b|\/sys\/|\bpsutil\b|\bps +(?:-|a)|['"]ps['"]|\b(?:free|total)mem\b|\bloadavg\b|\bvm_stat\b|['"](?:df|lsof|netstat|systemctl|top|vmstat|free)\b|\bgetloadavg\b|\bnetworkInterfaces\b/

const isAboutMachine = ({ machine, code }: Script) => machine === true || machineCalls.test(code)

/** The line of an error that says what went wrong: the last one, above its stack trace. */
function errorLine({ printed }: ScriptRun): string {
  const lines = printed.split('\n').filter((line) => line.trim() !== '')
  return (lines.findLast((line) => /^[^\s[}]/.test(line)) ?? lines.at(-1) ?? 'it printed nothing').slice(0, 200)
}

/** The first sentence, enough for a note: the other sentences are stored with the call, or given to the actor. */
const sentence = (text: string) => firstLine(text).split(/[.!](?:\s|$)/)[0]!

/** Has the actor work without a script, and tells it about the attempts. */
async function* actDirectly(
  why: string,
  failed: readonly ScriptRun[],
  thinking: ThinkingTurn,
): AsyncGenerator<Event, Outcome> {
  yield note(`${why}; answering directly`)
  return yield* thinking.act(unaidedPrompt(failed, thinking))
}

const longestResult = 24_000
const longestError = 8_000

const howWritten: Record<Language, string> = {
  python: 'Python, best for data: only packages that are installed here can be imported',
  node: 'JavaScript for Node: require, not import; await at the top works',
}

function scriptPrompt(
  languages: readonly Language[],
  failed: readonly ScriptRun[],
  { turn, resources }: ThinkingTurn,
): string {
  return [
    'You write a throw-away script whose output answers a request; it is run as you give it, and another agent answers the person with what it prints. Look at the files first, so that it fits them as they are; change nothing.',
    quoted('task', turn.prompt),
    resources.machine.description,
    `"language": ${languages.map((language) => `"${language}" (${howWritten[language]})`).join(' or ')}.`,
    '"code": the whole script. It starts in the working folder, is given no input and ends by itself within two minutes. It reads the data and does not guess it; it prints what was asked for, short enough to be read, with what shows that it is right, such as how many records it saw. It changes no file unless the request says so. It may run in a sandbox and without a network: where it cannot find what it needs, it must fail with an error instead of printing a wrong result.',
    '"about": "machine" if the script examines the machine itself (processes, memory, disks, users, services): it is then run where it can see them, or not at all; else "project".',
    '"why": in one sentence. If a script is no help, because nothing has to be computed or a look at a file is enough, leave out "code" and say why.',
    ...failed.flatMap((run) => [
      'This script was run, and failed. Find out why, and write it again as a whole; what it had defined by then may still be there, and nothing may rely on it:',
      ...runTexts(run, longestError),
    ]),
  ].join('\n\n')
}

/** The prompt for an actor that answers with a script's result. */
function answerPrompt(run: ScriptRun, { turn, resources }: ThinkingTurn): string {
  return [
    turn.prompt,
    resources.machine.description,
    'This script was written for it by another agent, and was run just now:',
    ...runTexts(run, longestResult),
    'Answer the person with its result: do not run it again, and do not compute again what it shows. If it does not answer the question, say so; what was asked for beyond it is yours to do.',
  ].join('\n\n')
}

/** The prompt for an actor that works without a script. */
function unaidedPrompt(failed: readonly ScriptRun[], { turn, resources }: ThinkingTurn): string {
  return [
    turn.prompt,
    resources.machine.description,
    ...failed.flatMap((run) => [
      run.ended === 'not allowed'
        ? `The following script was written for this task, and it was not allowed to run. Do not run it in another way${isAboutMachine(run.script) ? '. It asks about the machine itself, which a sandbox hides: if you cannot see the machine either, say so, and give no numbers' : ''}:`
        : run.ended === 'not run'
          ? 'The following script was written for this task, and it could not be run here:'
          : 'The following script was written for this task. It was run and failed. Find another way:',
      ...runTexts(run, longestError),
    ]),
  ].join('\n\n')
}

const runTexts = ({ script: { language, code, by }, printed }: ScriptRun, most: number) => [
  quoted('script', `${language}\n${clipped(code, longestResult)}`, by),
  quoted('result', clipped(printed, most)),
]
