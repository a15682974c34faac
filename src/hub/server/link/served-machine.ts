import type { Io } from '../../../core/io.ts'
import type { ServedMachine } from '../../../wire/link/machine-answers.ts'
import { voiceOf } from '../../../core/io.ts'
import { fileStore } from '../../../store/files/file-store.ts'
import { openIndex } from '../../../store/index/conversation-index.ts'
import { borderOf } from '../../../border/border.ts'
import { HomeTerminals } from '../dashboard/home-terminals.ts'
import { keptConversations } from '../dashboard/kept-conversations.ts'
import { PeerTurns } from '../dashboard/peer-turns.ts'
import { ProjectPrompts } from '../dashboard/project-prompts.ts'
import { thisProgram } from '../../../base/process/own-program.ts'
import { peerPlaces } from '../../../wire/peer/peers.ts'
import { homeOf } from '../../../home/place.ts'
import { RegisteredWork } from './registered-work.ts'

type Wishes = {
  machine: string
  /** Whether people elsewhere may send prompts to the projects of this machine. */
  allowPrompts: boolean
  /** Whether people elsewhere may only read the turns, so that no turn waits for their answer. */
  onlyReading?: boolean
}

/**
 * Everything that people elsewhere get from this machine: the turns and terminals of all processes of this home, its conversations and its projects.
 * Secrets are hidden here, before anything leaves the machine.
 */
export async function servedMachine(
  io: Io,
  { machine, allowPrompts, onlyReading = false }: Wishes,
): Promise<ServedMachine & { work: RegisteredWork }> {
  const { env, clock } = io
  const home = homeOf(env)
  const mask = borderOf(env, home).toward('hub')
  const kept = { open: () => openIndex(home, voiceOf(io)), store: fileStore(home, voiceOf(io)), mask }
  const { terminalsOf } = await import('../../../crew/machine/crew-terminals.ts')
  const terminals = () =>
    terminalsOf({ env, clock }, { terminals: { host: 'auto' } }, { lends: false, everywhere: true })
  return {
    turns: new PeerTurns({ machine, clock, mask, onlyReading, find: () => peerPlaces(home, clock) }),
    terminals: new HomeTerminals({ home, machine, clock, mask, terminals }),
    conversations: keptConversations({ ...kept, clock }),
    prompts: new ProjectPrompts({ ...kept, io, home, program: thisProgram(), allowed: allowPrompts }),
    work: new RegisteredWork(clock),
  }
}
