import type { Told } from '../../agents/native/context-changes.ts'
import type { Framed } from '../../agents/native/session-frame.ts'
import type { Native } from '../../agents/native/native-loop.ts'
import type { Opening } from '../../agents/native/session-opening.ts'
import type { Fact, Guide } from '../../core/talk/entry.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { McpServers } from '../../tools/mcp/mcp-servers.ts'
import { shortPath } from '../../base/short-path.ts'
import { wordsOf } from '../../base/words.ts'
import { changedSince, guideOf, toldIn } from '../../agents/native/context-changes.ts'
import { askedSkill, skillGuide } from '../../agents/native/skill.ts'
import { Room } from '../../agents/native/window-trim.ts'
import { guidesOf } from '../../core/talk/compaction.ts'

export type BeforeParts = {
  agent: string
  turn: Turn
  framed: Framed
  opened: Pick<Opening, 'tells' | 'skills'>
  servers: McpServers | undefined
  window(): number
  /** Says something to the person. */
  tell(words: string): void
}

/** What the model is told before each answer, beside what was said to it, and what is left out to make room. */
export function beforeEach(parts: BeforeParts): NonNullable<Native['before']> {
  const { agent, turn, framed, opened, servers, tell } = parts
  const room = new Room(framed.frame, turn.history)
  const changed = changedSince([...framed.told, ...toldIn(turn.history, agent)], opened.tells)
  if (changed.length > 0) tell(changedWords(changed, turn.cwd))
  let waiting: Fact[] = [...changed.map(guideOf), ...loaded(parts)]
  const known = new Set([...framed.frame.tools.map(({ name }) => name), ...lateTools(turn, agent)])
  return async (done) => {
    const [told, late] = [waiting, servers?.news(known)]
    waiting = []
    for (const name of late?.tools ?? []) known.add(name)
    const news: Fact[] = late ? [{ type: 'guide', name: lateName, text: late.text, mark: late.tools.join(' ') }] : []
    const trims = room.due([...done, ...told, ...news], parts.window())
    if (trims.length > 0) tell('Old outputs of tools are left out from here on: half of the window was full.')
    return [...told, ...news, ...trims]
  }
}

function changedWords(changed: readonly Told[], cwd: string): string {
  const names = changed.map(({ about }) => shortPath(about, cwd)).join(', ')
  return `Changed since it was last told of, and told of now: ${names}.`
}

const lateName = 'mcp tools'

/** The tools of servers that this conversation was told of after its frame. */
function lateTools({ history }: Turn, agent: string): string[] {
  return history.flatMap((entry) =>
    entry.type === 'guide' && entry.by === agent && entry.name === lateName ? (entry.mark ?? '').split(' ') : [],
  )
}

/** The skill that the prompt asks for; one that is in force as it is now is not told again. */
function loaded({ opened, turn, agent, tell }: BeforeParts): Guide[] {
  const skill = askedSkill(turn.prompt, opened.skills)
  try {
    const guide = skill && skillGuide(skill)
    const inForce = guidesOf(turn.history).some(
      ({ by, name, text }) => by === agent && name === guide?.name && text === guide.text,
    )
    if (!guide || inForce) return []
    tell(`The skill ${skill.name} is loaded.`)
    return [guide]
  } catch (error) {
    tell(wordsOf(error))
    return []
  }
}
