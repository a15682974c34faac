import type { DeskAppParts } from '../desk-app.ts'
import { localTime } from '../../base/time/local-time.ts'
import { keepCompiledCode } from '../../base/process/compiled-code.ts'
import { readyWatchdog } from '../../base/process/watchdog.ts'
import { openChat } from '../../chat/chat.ts'
import { openLines } from '../../chat/line-chat.ts'
import { ProjectDesk } from '../project-desk.ts'
import { DeskApp } from '../desk-app.ts'
import { say } from '../../core/io.ts'
import { leashKeyCommand } from '../slash/agents/leash.ts'
import { scanAtStart } from '../../native/machine-facts.ts'
import { setupCommand } from '../slash/setup.ts'
import { slashCommands } from '../slash/slash-commands.ts'
import { noteProcess } from '../../border/running-processes.ts'
import { shellWord } from '../../base/text/shell-word.ts'
import { exit } from '../../core/exit-codes.ts'

type ChatOptions = DeskAppParts & {
  /** The prompt of the first turn, given on the command line. */
  prompt?: string
  agent?: string
  altScreen: boolean
  /** Shows plain lines instead of a full screen. */
  lines: boolean
}

/** Runs the chat and returns the exit code. */
export async function chat(wishes: ChatOptions): Promise<number> {
  const { io, place } = wishes
  const hangup = io.hangup?.() ?? new AbortController().signal
  const since = io.clock.now()
  const note = (session: string) =>
    noteProcess(place.home, { process: 'chat', project: place.cwd, sessions: [session], since }, io.clock)
  const parts = { ...wishes, wishes: { ...wishes.wishes, keepsAgents: true as const }, entered: note }
  const desk = new ProjectDesk(await DeskApp.open(parts), {
    commands: slashCommands,
    firstStart: setupCommand,
    ...(wishes.lines ? {} : { guidedStart: (controls) => setupCommand(controls, true) }),
    leashKey: leashKeyCommand,
  })
  readyWatchdog(io.env)
  const shown = show(desk, wishes, AbortSignal.any([io.signal, hangup]))
  await desk.begun()
  await keepYoungHeapSmall()
  scanAtStart(desk.app().native)
  await desk.confirmLeash()
  if (wishes.agent !== undefined) desk.controls.aim(wishes.agent)
  if (wishes.prompt !== undefined) desk.first(wishes.prompt)
  const unnote = note(desk.app().session.id)
  const beside = await attended(desk, wishes)
  const fault = await shown
  beside?.close()
  // Leaving cancels the running turn; a dropped connection does not.
  const cut = !hangup.aborted && desk.busy
  const { waiting, progress } = desk.standing()
  const unsent = hangup.aborted ? [] : desk.leave()
  await desk.idle()
  await desk.close()
  unnote()
  if (hangup.aborted) return 0
  for (const text of unsent) say(io, `Not sent: ${text}`)
  if (progress !== undefined) say(io, `Ended with the chat: ${progress}. Nothing goes on without the chat.`)
  if (waiting)
    say(
      io,
      `A request waits for ${waiting.agent} until ${localTime(waiting.until)}. The next chat in this folder sends it then.`,
    )
  if (fault !== undefined) say(io, `termaite: the chat crashed: ${fault}. The conversation is kept.`)
  say(io, desk.app().ephemeral ? 'This chat was not kept.' : `Continue with: ${resumeCommand(desk)}`)
  return fault !== undefined ? exit.failed : cut ? exit.interrupted : exit.done
}

/**
 * Keeps V8's space for new objects as small as it is once the chat has started. Otherwise V8 would keep doubling it over hours, up to 128
 * MB with almost no live data, and would not release it.
 */
async function keepYoungHeapSmall(): Promise<void> {
  keepCompiledCode()
  const { setFlagsFromString } = await import('node:v8')
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** Shows questions of the project's crew. A chat that runs inside a crew slot has no user to show them to. */
async function attended(desk: ProjectDesk, { io, lines }: ChatOptions) {
  if (desk.app().ephemeral || io.env.TERMAITE_RUN !== undefined) return undefined
  const { CrewQuestions } = await import('../crew/crew-questions.ts')
  return new CrewQuestions({ app: desk.app, put: (command) => desk.put(command), cards: !lines })
}

/** Shows the desk until the user leaves; returns the fault if the screen broke. */
async function show(desk: ProjectDesk, wishes: ChatOptions, signal: AbortSignal): Promise<string | undefined> {
  const { io } = wishes
  if (wishes.lines) {
    await openLines(desk, { in: io.in, out: io.out, clock: io.clock, env: io.env, signal })
    return undefined
  }
  const end = await openChat(desk, { clock: io.clock, env: io.env, signal, altScreen: wishes.altScreen })
  return end.why === 'broken' ? end.message : undefined
}

function resumeCommand(desk: ProjectDesk): string {
  const { place, session } = desk.app()
  const name = session.name === undefined ? '' : ` --session ${shellWord(session.name)}`
  return `termaite --cwd ${shellWord(place.cwd)}${name}`
}
