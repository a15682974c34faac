import type { Entry, Event } from '../../src/core/talk/entry.ts'
import type { Dialect, Profile, Step } from '../../src/core/profile/profile.ts'
import type { PipeParts, PipeSpec } from '../../src/agents/pipe/pipe-agent.ts'
import type { Leash, Turn } from '../../src/core/work/agent.ts'
import { WarmProcesses } from '../../src/agents/warm-processes.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { isFact } from '../../src/core/talk/entry.ts'
import { eventsOf, turnOf } from '../contract/agent.ts'
import { testDialect } from './dialect.ts'
import { piped, profileOf } from './pipe-rig.ts'

const step = (one: object) => `echo '${JSON.stringify(one)}'`

/**
 * A CLI that takes prompt after prompt: its answer names its process, its prompts so far, and how it was started. A word of the prompt says
 * what else it does.
 */
const script = (started: string) => `n=0; while read -r prompt; do n=$((n+1))
${step({ type: 'thread', key: 'k' })}
case "$prompt" in
*dies*) exit 3;;
*fails*) ${step({ type: 'end', outcome: { ok: false, failure: { kind: 'crash', message: 'it failed' } } })}; continue;;
*hangs*) sleep 76;;
*asks*) ${step({
  type: 'ask',
  question: {
    about: 'permission',
    text: 'May I?',
    from: [],
    options: [
      { id: 'once', label: 'Yes' },
      { id: 'turn', label: 'Until this turn ends', grants: 'all of it' },
    ],
  },
})}; read -r said;;
*child*) ${step({ type: 'call', call: 'c', tool: 'bash', input: {} })}; sleep 0.05; sleep 77 & ${step({ type: 'result', call: 'c', ok: true, text: '' })};;
*calls*) ${step({ type: 'call', call: 'c', tool: 'bash', input: {} })}; sleep 0.01; ${step({ type: 'result', call: 'c', ok: true, text: '' })};;
*later*) (until [ -e "$GATE" ]; do sleep 0.02; done; ${step({ type: 'text', delta: 'by myself' })}; sleep 78) & ;;
*deaf*) exec <&-; printf '{"type":"end","outcome":{"ok":true,"text":"pid %s prompt %s ${started}"}}\\n' $$ $n; sleep 75;;
*leaves*) printf '{"type":"end","outcome":{"ok":true,"text":"pid %s prompt %s ${started}"}}\\n' $$ $n; exit 0;;
esac
printf '{"type":"end","outcome":{"ok":true,"text":"pid %s prompt %s ${started}"}}\\n' $$ $n
done`

/** The speech of that CLI in one turn, and in every further one. */
export function stayingDialect(): Dialect {
  const inner = testDialect({ asks: true })
  let end: Step | undefined
  return {
    ...inner,
    line(line) {
      const steps: Step[] = inner.line(line)
      end ??= steps.find(({ type }) => type === 'end')
      return steps.filter(({ type }) => type !== 'end')
    },
    over: () => end !== undefined,
    end: (exit) => (end ? [end] : inner.end(exit)),
    next: stayingDialect,
  }
}

export const staying = (over: Partial<Profile> = {}): Profile =>
  profileOf({
    leashes: { read: 'looks', ask: 'asks', edit: 'edits', all: 'acts' },
    command: ({ leash, resume, model, attended }) =>
      script([leash, resume ?? 'fresh', model ?? 'any', attended ? 'attended' : 'alone'].join(' ')),
    dialect: () => stayingDialect(),
    resumes: true,
    ...over,
  })

/** A chat with one agent over that CLI: its turns are kept in a log, and each goes on with what the log says. */
export function chatting(
  spec: Partial<PipeSpec> = {},
  parts: Partial<PipeParts> = {},
  over: Partial<ConstructorParameters<typeof WarmProcesses>[0]> = {},
) {
  const warm = new WarmProcesses({
    clock: realClock,
    idleMs: 600_000,
    memory: () => ({ total: 2 ** 34, free: 2 ** 33 }),
    ...over,
  })
  let log: Entry[] = []
  let turns = 0
  return {
    warm,
    /** One turn; all its events. */
    async take(prompt: string, as: Partial<Turn> & { seat?: Leash; spec?: Partial<PipeSpec> } = {}): Promise<Event[]> {
      const { seat = 'all', spec: more, ...turn } = as
      const id = `t${++turns}`
      const agent = piped({ profile: staying(), ...spec, ...more }, { warm, ...parts }, { leash: seat })
      const events = await eventsOf(agent, turnOf({ id, prompt, history: log, leash: seat, ...turn }))
      await agent.close()
      log = [...log, ...entriesOf(id, prompt, events)]
      return events
    },
    /** Changes what the log says, as another process does. */
    rewrite(change: (entries: readonly Entry[]) => Entry[]) {
      log = change(log)
    },
    close: () => warm.close(),
  }
}

let count = 0

export function entriesOf(turn: string, prompt: string, events: readonly Event[]): Entry[] {
  const facts = [{ type: 'prompt', text: prompt, by: 'user' } as const, ...events.filter(isFact)]
  return facts.map((fact) => ({ id: `e${++count}`, at: count, session: 's', turn, by: 'sayer', ...fact }) as Entry)
}

/** The answer of a turn, with the pid apart: "prompt 2 ask k any". */
export function answered(events: readonly Event[]): { pid: number; said: string } | string {
  const end = events.at(-1)
  if (end?.type !== 'end') return 'no end'
  if (!end.outcome.ok) return end.outcome.failure.message
  const [, pid, said] = /^pid (\d+) (.*)$/s.exec(end.outcome.text) ?? []
  return { pid: Number(pid), said: said ?? end.outcome.text }
}
