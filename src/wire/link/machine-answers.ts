import type { MachineTerminals } from '../../core/screen/machine-terminals.ts'
import type { Terminal } from '../../core/screen/terminal.ts'
import type { Conversations } from '../../core/turns/conversations.ts'
import type { MachinePrompts } from '../../core/turns/machine-prompts.ts'
import type { MachineTurns } from '../../core/turns/machine-turns.ts'
import type { MachineWork } from '../../hub/model/machine-work.ts'
import type { MachineOffer } from '../../hub/model/machine-standing.ts'
import type { Answers } from '../frames/answering.ts'
import type { Answering } from '../frames/methods.ts'
import type { FindTerminal } from '../frames/terminal-answers.ts'
import { defined } from '../../base/defined.ts'
import { WireFailure } from '../frames/frames.ts'
import { MethodAnswers } from '../frames/methods.ts'
import { shownTerminals } from '../frames/terminal-answers.ts'

/** Everything on one machine that can be offered to people elsewhere. */
export type ServedMachine = {
  turns: MachineTurns
  terminals: MachineTerminals
  prompts: MachinePrompts
  conversations: Conversations
  work: MachineWork
}

/** The most terminals that one list names, and the most rows above a screen. */
const mostRows = 500
const mostHistory = 5_000
/** The longest text that is typed or pasted at once; written as JSON it fits into a frame. */
const longestTyped = 256 * 1024

const smallestSide = 2
const largestSide = 1_000

/** Answers a hub for one machine. */
export function machineAnswers(machine: ServedMachine, offers: Iterable<MachineOffer>): Answers {
  return new MethodAnswers({ ...turnMethods(machine), ...terminalMethods(machine), ...talkMethods(machine) }, offers)
}

function terminalMethods({ terminals }: ServedMachine): Answering {
  const shown = shownTerminals(openedOnce(terminals))
  return {
    ...shown,
    'terminals.list': async () => (await terminals.list()).slice(0, mostRows),
    // How the terminal is shown on its own machine does not concern others.
    'terminal.open': async (params) => ({ ...(await shown['terminal.open'](params)), attach: undefined }),
    'terminal.history': ({ id, rows }) => shown['terminal.history']({ id, rows: Math.min(rows, mostHistory) }),
    'terminal.type': async ({ id, paste, text }, { by }) => {
      if (text.length > longestTyped)
        throw new WireFailure('long', `At most ${longestTyped / 1024} kB are typed on another machine at once.`)
      await terminals.type(id, { as: paste ? 'paste' : 'keys', text }, by)
      return true
    },
    'terminal.resize': async ({ id, cols, rows }, { by }) => {
      if (Math.min(cols, rows) < smallestSide || Math.max(cols, rows) > largestSide)
        throw new WireFailure('wrong', `A terminal has ${smallestSide} to ${largestSide} columns and rows.`)
      await terminals.resize(id, { cols, rows }, by)
      return true
    },
  }
}

/** Opens each terminal once for everybody who looks at it. */
function openedOnce(terminals: MachineTerminals): FindTerminal {
  const opened = new Map<string, Promise<Terminal | undefined>>()
  return (id) => {
    const known = opened.get(id)
    if (known) return known
    const found = terminals.open(id).catch(() => undefined)
    opened.set(id, found)
    const forget = () => opened.delete(id)
    void found.then((terminal) => terminal?.exited).then(forget)
    return found
  }
}

function turnMethods({ turns }: ServedMachine): Answering {
  return {
    'turns.follow': (_, { signal }) => turns.follow(signal),
    'turns.watch': ({ session }, { signal }) => turns.watch(session, signal),
    'turn.answer': ({ turn, ask, picks }, { by }) => turns.answer(turn, ask, picks, by),
    'turn.steer': ({ turn, text }, { by }) => turns.steer(turn, text, by),
    'turn.cancel': ({ turn }, { by }) => turns.cancel(turn, by),
  }
}

function talkMethods({ prompts, conversations, work }: ServedMachine): Answering {
  return {
    'prompts.send': (wish, { by }) => prompts.send(defined(wish), by),
    'conversations.list': async () => (await conversations.list()).slice(0, mostRows),
    'conversations.projects': async () => (await conversations.projects()).slice(0, mostRows),
    'conversations.page': ({ session, ...wish }) => conversations.page(session, defined(wish)),
    async *'conversations.follow'({ session, after }, { signal }) {
      for await (const placed of conversations.follow(session, after, signal)) yield placed ?? null
    },
    work: ({ name, input }, { by, signal }) => work.run(name, input, { by, signal }),
  }
}
