import type { Event } from '../../core/talk/entry.ts'
import type { Thinking } from '../../core/talk/framework.ts'
import type { WorkMode } from '../../core/work/agent.ts'
import type { Format } from '../output/print.ts'
import type { Parsed, Program } from '../arguments/cli-command.ts'
import type { App } from '../../turn/app.ts'
import type { CommandPrompt } from '../../people/commands/command-prompt.ts'
import { runHeadless } from '../../app/headless-turn.ts'
import type { Io } from '../../core/io.ts'
import type { Border } from '../../safety/border.ts'
import type { Settings } from '../../settings/settings.ts'
import { existsSync } from 'node:fs'
import { mark } from '../../base/mark.ts'
import { readyWatchdog } from '../../base/process/watchdog.ts'
import { tag } from '../../core/talk/transcript.ts'
import { personAt } from '../../questions/terminal-questions.ts'
import { printTurn } from '../output/print.ts'
import { openApp } from '../../turn/app.ts'
import { closeNative } from '../../native/native-parts.ts'
import { actsByOurTools } from '../../app/turn.ts'
import { openTurnSnapshots } from '../../turn/turn-snapshots.ts'
import { untilAborted } from '../../base/time/clock.ts'
import { say, UsageError } from '../../core/io.ts'
import { fallbackNative, withFallback } from '../../people/offers/fallback-agent.ts'
import { placeOf } from '../../home/place.ts'
import { latestProject } from '../../home/projects.ts'
import { enabledAgents, noAgentWords } from '../../settings/enabled-agents.ts'
import { attachedPrompt } from '../../turn/attachments/attached-prompt.ts'
import { prepareTurn } from '../../turn/turn-preparation.ts'
import { shellWord } from '../../base/text/shell-word.ts'
import { readSettings } from '../../settings/settings.ts'
import { agentForModel } from '../../settings/agent-settings.ts'
import { oneLine } from '../../base/text/table.ts'
import { isNote } from '../../core/talk/command.ts'
import { inMode } from '../../settings/work-mode.ts'
import { chosenAgent, allowedCalls, budgetIn, flag, list, text } from '../arguments/turn-flags.ts'

/** Runs one turn without a screen, or the chat if stdin and stdout are terminals. */
export async function run(io: Io, { values, words }: Parsed, program: Program): Promise<number> {
  const asked = await readRun(io, values)
  return isChat(io, values) ? runChat(io, asked, values, words) : runOneTurn(io, asked, { values, words }, program)
}

/** A run as requested by the flags and the settings. */
type AskedRun = Awaited<ReturnType<typeof readRun>>

async function readRun(io: Io, values: Parsed['values']) {
  refuseConflicts(values)
  const place = values.continue ? placeOf(io, latestProject(io)) : placeOf(io, text(values.cwd))
  if (values.continue) say(io, `Continuing in ${place.root}`)
  const named = text(values.agent) ?? io.env.TERMAITE_AGENT
  const model = text(values.model)
  const overrides = {
    ...(model === undefined ? {} : { model: { name: model, agent: named } }),
    env: io.env,
    ...flag('rotation', values.rotation),
    ...flag('leash', values.leash),
    ...flag('effort', values.effort),
    allow: list(values.allow),
    deny: list(values.deny),
  }
  const read = () => readSettings({ home: place.home, project: place.root }, overrides)
  const settings = await read()
  mark('settings')
  const mode = (text(values.mode) ?? 'chat') as WorkMode
  const own = withFallback(settings, await fallbackNative(settings, mode, { io, place }))
  const agents = enabledAgents(inMode(own, mode))
  const names = agents.map(({ name }) => name)
  const wanted = model === undefined ? named : agentForModel(own.agents, model, named).name
  const only = values.only === true
  if (only) refuseOnly(values, chosenAgent(wanted, names).agent)
  const schema = await readSchema(io, values)
  const wishes = wishesOf(values, mode, only ? agents.filter(({ name }) => name === wanted) : agents)
  return { place, read, settings, own, names, wanted, only, schema, wishes }
}

/** Refuses flags that cannot be combined, before anything is read. */
function refuseConflicts(values: Parsed['values']): void {
  if (values.continue && values.cwd !== undefined)
    throw new UsageError('--continue and --cwd name two different folders. Use only one of them.')
  if (values.exclusive && values.ephemeral)
    throw new UsageError(
      '--exclusive and --ephemeral cannot be combined: a turn that keeps nothing cannot wait for others.',
    )
}

/** Refuses --only if no agent is named, or if other agents would be asked too. */
function refuseOnly(values: Parsed['values'], agent: string | undefined): void {
  if (agent === undefined) throw new UsageError('--only needs the name of an agent: add -a and its name.')
  if ((values.think ?? 'off') !== 'off' && values.think !== 'direct')
    throw new UsageError(`--only and --think ${text(values.think)} cannot be combined: thinking asks other agents.`)
}

async function readSchema(io: Io, values: Parsed['values']) {
  const path = text(values['output-schema'])
  if (path === undefined) return undefined
  if ((values.think ?? 'off') !== 'off')
    throw new UsageError('--output-schema and --think cannot be combined: one agent gives the answer.')
  const { readOutputSchema } = await import('../../turn/output-schema.ts')
  return readOutputSchema(path, io.cwd)
}

/** The options for the conversation and its turns; `agents` are those whose prices a limit on the cost needs. */
function wishesOf(values: Parsed['values'], mode: WorkMode, agents: Parameters<typeof budgetIn>[1]) {
  if (values.fork === true && (values.new === true || values.ephemeral === true))
    throw new UsageError(
      `--fork and ${values.new === true ? '--new' : '--ephemeral'} cannot be combined: a fork begins with an earlier conversation.`,
    )
  return {
    fresh: values.new === true,
    ...(values.fork === true ? { fork: true as const } : {}),
    ephemeral: values.ephemeral === true,
    ...flag('name', values.session),
    ...(flag('think', values.think) as { think?: Thinking }),
    ...allowedCalls(text(values['think-calls'])),
    mode,
    folders: list(values['add-dir']),
    budget: budgetIn(values, agents),
  }
}

async function runChat(io: Io, asked: AskedRun, values: Parsed['values'], words: readonly string[]): Promise<number> {
  const { place, settings, read, wishes, wanted, names } = asked
  if (values.exclusive) throw new UsageError('--exclusive works only with -p.')
  if (asked.schema) throw new UsageError('--output-schema works only with -p.')
  if (asked.only) throw new UsageError('--only works only with -p. In the chat, type /switch and the name of an agent.')
  const { chat } = await import('../../desk/screens/chat.ts')
  return chat({
    io,
    place,
    settings,
    read,
    wishes,
    ...screenOf(io, settings, values),
    ...promptOf(words),
    ...chosenAgent(wanted, names),
  })
}

async function runOneTurn(io: Io, asked: AskedRun, { values, words }: Parsed, program: Program): Promise<number> {
  const { place, own, names, wishes, only, schema } = asked
  for (const warning of own.warnings) say(io, `termaite: ${warning}`)
  if (names.length === 0) throw new UsageError(noAgentWords(asked.settings))
  const aim = chosenAgent(asked.wanted, names)
  const given = text(values.prompt) ?? (words.length ? words.join(' ') : undefined)
  const typed = await typedPrompt(io, given)
  const app = await openApp(io, place, own, wishes)
  mark('conversation')
  for (const warning of app.warnings) say(io, `termaite: ${warning}`)
  const { prompt, files, terms } = await wholePrompt(app, typed, schema?.instruction, program)
  const exclusive = values.exclusive === true
  // The snapshot is taken while the history is read. An exclusive turn only takes it after the earlier turns are over.
  const snapshots = exclusive ? undefined : openTurnSnapshots(app, prompt)
  // Our own agent may answer without starting any process.
  if (!actsByOurTools(app)) readyWatchdog(io.env)
  await prepareTurn(app, { say: (words) => say(io, words) })
  mark('history')
  const debug = values.debug === true || io.env.TERMAITE_DEBUG === '1'
  const turn = runHeadless(app, {
    prompt,
    ...(files.length > 0 ? { files } : {}),
    signal: io.signal,
    exclusive,
    ...(only ? { only, think: 'off' as const } : {}),
    snapshots,
    form: schema?.form(app.blobs),
    ...(terms ? { terms } : {}),
    ...aim,
  })
  return printTurn(debug ? traceEvents(io, turn, app.border) : turn, {
    format: (text(values['output-format']) ?? 'text') as Format,
    out: io.out,
    err: io.err,
    blobs: app.blobs,
    clock: io.clock,
    session: app.session.id,
    project: place.root,
    formed: schema !== undefined,
    again: [
      ...(wishes.mode === 'chat' ? [] : ['--mode', wishes.mode]),
      ...(wishes.name === undefined ? [] : ['--session', shellWord(wishes.name)]),
    ],
  })
}

/** The prompt with everything that it mentions, the piped text, and the `instruction` about the form of the answer. */
async function wholePrompt(app: App, { typed, piped }: TypedPrompt, instruction: string | undefined, program: Program) {
  const { io } = app
  if (isNote(typed.trim()))
    say(
      io,
      'termaite: a note for AGENTS.md (#…) needs a person who sees the change, so this is sent as a prompt. In the chat, # and /remember add notes.',
    )
  const command = typed.startsWith('/') ? await commandPromptIn(app, typed.trim(), program) : undefined
  const warn = (words: string) => say(io, `termaite: ${words}`)
  const author = { ask: personAt(io), signal: io.signal, warn }
  const attach = async () => {
    const attached = await attachedPrompt(app, command?.prompt ?? typed, author)
    if (io.signal.aborted) throw new UsageError('interrupted', Number(io.signal.reason))
    return attached
  }
  const { prompt: attached, files } = await attach().catch(async (error) => {
    await closeNative(app.native)
    throw error
  })
  const asked = piped === undefined ? attached : `${attached}\n\n${tag('stdin', '', piped)}`
  return { prompt: instruction === undefined ? asked : `${asked}\n\n${instruction}`, files, terms: command?.terms }
}

/** Prints each event to stderr as it arrives, for --debug. */
async function* traceEvents(io: Io, events: AsyncIterable<Event>, border: Border): AsyncGenerator<Event> {
  const began = io.clock.elapsed()
  for await (const event of events) {
    say(
      io,
      `[debug] +${Math.round(io.clock.elapsed() - began)} ms ${event.by ?? ''} ${oneLine(border.to('log', JSON.stringify(event)), 300)}`,
    )
    yield event
  }
}

/** The prompt of a command that a file of the person or of the project defines; undefined if the words do not name a command. */
async function commandPromptIn(app: App, given: string, program: Program): Promise<CommandPrompt | undefined> {
  const { io } = app
  const [, name, args = ''] = /^\/([\w:-]+)(?:\s+([^]*))?$/.exec(given) ?? []
  if (name === undefined) return undefined
  const { headlessCommand, promptNotice } = await import('../../desk/slash/headless-command.ts')
  const tell = (words: string) => say(io, `termaite: ${words}`)
  const found = await headlessCommand(app, name, args, { ask: personAt(io), signal: io.signal, say: tell })
  // A folder such as /tmp is a path, and a name with a colon may be a prompt of an MCP server, which is looked up later.
  if (!found && !name.includes(':') && !existsSync(`/${name}`)) {
    const inShell = (await program.commands()).map((command) => command.name)
    tell(await promptNotice(app, name, inShell))
  }
  return found
}

/** The given prompt, and the text that was piped in with it. */
type TypedPrompt = { typed: string; piped?: string }

async function typedPrompt(io: Io, given: string | undefined): Promise<TypedPrompt> {
  const alone = given === undefined || given === '-'
  if (given === '-' && io.in.isTTY) say(io, 'Type the prompt. End it with Ctrl+D on a line of its own.')
  const piped = given === '-' || io.piped ? await readStdin(io, alone) : undefined
  const typed = alone ? (piped ?? '') : given
  const beside = alone ? '' : (piped ?? '')
  if (io.signal.aborted) throw new UsageError('interrupted', Number(io.signal.reason))
  if (`${typed}${beside}`.trim() === '')
    throw new UsageError('the prompt is empty. Give one: termaite -p "why does the build fail?"')
  return beside === '' ? { typed } : { typed, piped: beside }
}

/** Says whether this run is the chat: both streams are terminals, and no flag asks for one turn. */
function isChat(io: Io, values: Parsed['values']): boolean {
  if (values.prompt !== undefined || values['output-format'] !== undefined || io.piped) return false
  return io.in.isTTY === true && io.out.isTTY === true
}

function screenOf({ env }: Io, { screenReader }: Settings, values: Parsed['values']) {
  const altScreen = !(values['no-alt-screen'] || values.classic)
  return { altScreen, lines: env.TERM === 'dumb' || screenReader }
}

const promptOf = (words: readonly string[]) => (words.length > 0 ? { prompt: words.join(' ') } : {})

const patienceMs = 3_000

/** Reads all of stdin. If `patient` is false, gives up on a silent pipe after 3 s, since it may never be closed. */
export async function readStdin(io: Io, patient: boolean): Promise<string | undefined> {
  const chunks: Buffer[] = []
  const heard = new AbortController()
  const all = (async () => {
    for await (const chunk of io.in) {
      heard.abort()
      chunks.push(Buffer.from(chunk))
    }
  })()
  const trouble = all.then(
    () => undefined,
    (error: Error) => error,
  )
  // `trouble` resolves with the error.
  void trouble.then(() => heard.abort())
  if (!patient) {
    await io.clock.sleep(patienceMs, AbortSignal.any([heard.signal, io.signal]))
    if (!heard.signal.aborted) {
      if (!io.signal.aborted)
        io.err.write('Nothing arrived on stdin for 3 s; continuing without it. To skip this wait, add </dev/null.\n')
      return undefined
    }
  }
  const error = await Promise.race([trouble, untilAborted(io.signal)])
  if (error) throw new UsageError(`stdin could not be read: ${error.message}. Use a file or a pipe.`)
  return Buffer.concat(chunks).toString('utf8')
}
