import type { Command, CommandWorld } from '../../../core/talk/command.ts'
import type { OpenCrew } from '../../../crew/machine/crews.ts'
import type { DeskControls } from '../../desk-controls.ts'
import { relativeTime } from '../../../base/time/local-time.ts'
import { enabledAgents } from '../../../settings/enabled-agents.ts'
import { killedWords } from '../../../crew/slot.ts'
import { UsageError } from '../../../core/io.ts'
import { put } from '../../crew/crew-card.ts'
import { block, blockColumns } from '../shared/code-block.ts'
import { goingOn } from '../shared/choice.ts'

const verbs = ['spawn', 'read', 'answer', 'attach', 'kill'] as const

/** How many lines of an agent's terminal are shown. */
const lines = 40

export function crewCommand(controls: DeskControls): Command {
  return {
    name: 'crew',
    words: '[spawn <agent> [task…]|verb <slot>]',
    help: 'List, start, watch, answer or end crew agents.',
    complete: (typed) => {
      const [, agent] = /^spawn\s+(\S*)$/.exec(typed) ?? []
      if (agent === undefined) return goingOn(typed, verbs)
      const names = enabledAgents(controls.app().settings).map(({ name }) => name)
      return goingOn(agent, names).map((name) => `spawn ${name}`)
    },
    async run(args, world) {
      const { io, place, settings } = controls.app()
      const { openCrews } = await import('../../../crew/machine/crews.ts')
      const crews = openCrews(io, place, settings, { carries: false })
      const open = crews.of()
      try {
        const [isSpawn, wish = ''] = /^spawn(?:\s+([^]*))?$/.exec(args.trim()) ?? []
        if (isSpawn === undefined) return await told(controls, open, args.trim().split(/\s+/), world)
        const { spawnAgent } = await import('./crew-spawn.ts')
        const stopped = { ...io, signal: AbortSignal.any([io.signal, world.signal]) }
        if (await spawnAgent({ io: stopped, place, settings, crews, open }, wish, world))
          await list(controls, open, world)
      } finally {
        await crews.close()
      }
    },
  }
}

async function told(
  controls: DeskControls,
  open: OpenCrew,
  [verb, slot, ...more]: string[],
  world: CommandWorld,
): Promise<void> {
  const { io, place } = controls.app()
  const { crew } = open
  const [{ ensureKeeper }, { slotOf }] = await Promise.all([
    import('../../../crew/machine/crew-keeper.ts'),
    import('../../crew/crew-verbs.ts'),
  ])
  await ensureKeeper(io, place, open)
  if (!verb) return list(controls, open, world)
  if (more.length > 0 || !verbs.includes(verb as (typeof verbs)[number]))
    throw new UsageError(
      `/crew: found "${verb}", allowed: ${verbs.join(', ')}, each with the number of a slot. /crew alone lists the agents.`,
    )
  const id = slotOf(verb, slot)
  if (verb === 'kill') {
    const killed = await crew.kill(id)
    world.say(killedWords(await crew.slot(id), killed), 'note')
  } else if (verb === 'attach') {
    const { attach } = await import('../../crew/crew-attach.ts')
    await world.screen.suspend(() => attach(io, open, [String(id)]))
  } else if (verb === 'answer') {
    const slot = await crew.slot(id)
    const asked = slot.asks?.[0]
    if (!asked) throw new UsageError(`slot ${id} has no open question: it is ${slot.state}.`)
    await put(crew, slot, asked, world)
  } else
    world.say(
      block((await crew.read(id, { lines, clean: true, until: 0 })).output || 'The agent’s screen is empty.'),
      'text',
    )
}

async function list(controls: DeskControls, { crew }: OpenCrew, world: CommandWorld): Promise<void> {
  const slots = await crew.slots()
  if (slots.length === 0) return world.say('No crew agent is running. Start one: /crew spawn <agent> <task>', 'note')
  const { crewTable } = await import('../../crew/crew-table.ts')
  const { clock, out } = controls.app().io
  const wishes = {
    when: (at: number) => relativeTime(clock.now(), at),
    answer: '/crew answer',
    columns: blockColumns(out.columns),
  }
  world.say(block(crewTable(slots, wishes)), 'text')
}
