import type { Framed } from '../../agents/native/frame.ts'
import type { Native } from '../../agents/native/loop.ts'
import type { Opening } from '../../agents/native/context/opening.ts'
import type { Fact, Guide } from '../../core/talk/entry.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { Servers } from '../../tools/mcp/servers.ts'
import { wordsOf } from '../../base/words.ts'
import { changedSince, guideOf, toldIn } from '../../agents/native/context/changed.ts'
import { askedSkill } from '../../agents/native/skills/asked.ts'
import { skillGuide } from '../../agents/native/skills/skill.ts'
import { Room } from '../../agents/native/window/room.ts'
import { guidesOf } from '../../core/talk/compaction.ts'

export type BeforeParts = {
  agent: string
  turn: Turn
  framed: Framed
  opened: Pick<Opening, 'tells' | 'skills'>
  servers: Servers | undefined
  window(): number
  warn(words: string): void
}

/** What the model is told before each answer, beside what was said to it, and what is left out to make room. */
export function beforeEach(parts: BeforeParts): NonNullable<Native['before']> {
  const { agent, turn, framed, opened, servers } = parts
  const room = new Room(framed.frame, turn.history)
  const changed = changedSince([...framed.told, ...toldIn(turn.history, agent)], opened.tells).map(guideOf)
  let waiting: Fact[] = [...changed, ...loaded(parts)]
  const known = new Set([...framed.frame.tools.map(({ name }) => name), ...lateTools(turn, agent)])
  return async (done) => {
    const [told, late] = [waiting, servers?.news(known)]
    waiting = []
    for (const name of late?.tools ?? []) known.add(name)
    const news: Fact[] = late ? [{ type: 'guide', name: lateName, text: late.text, mark: late.tools.join(' ') }] : []
    return [...told, ...news, ...room.due([...done, ...told, ...news], parts.window())]
  }
}

const lateName = 'mcp tools'

/** The tools of servers that this conversation was told of after its frame. */
function lateTools({ history }: Turn, agent: string): string[] {
  return history.flatMap((entry) =>
    entry.type === 'guide' && entry.by === agent && entry.name === lateName ? (entry.mark ?? '').split(' ') : [],
  )
}

/** The skill that the prompt asks for; one that is in force as it is now is not told again. */
function loaded({ opened, turn, agent, warn }: BeforeParts): Guide[] {
  const skill = askedSkill(turn.prompt, opened.skills)
  try {
    const guide = skill && skillGuide(skill)
    const inForce = guidesOf(turn.history).some(
      ({ by, name, text }) => by === agent && name === guide?.name && text === guide.text,
    )
    return guide && !inForce ? [guide] : []
  } catch (error) {
    warn(wordsOf(error))
    return []
  }
}
