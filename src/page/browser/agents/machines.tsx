import type { MachineRules } from '../../../hub/model/tasks/machine-rules.ts'
import { useState } from 'preact/hooks'
import { diskByMachine, diskWords } from '../../../hub/model/tasks/agent-status.ts'
import {
  allowedLimits,
  heldByMachine,
  labelsIn,
  limitIn,
  pauseWords,
  rulesWords,
  wholeHub,
} from '../../../hub/model/tasks/machine-rules.ts'
import { fleetVersions, linkWords, versionSkew } from '../../../hub/model/machine-standing.ts'
import { useFocus } from '../frame/list-keys.ts'
import { act, actWithUndo, refused } from '../hub/act.ts'
import { request } from '../hub/page-request.ts'
import { machines, rules, standing } from '../hub/page-state.ts'
import { VisibleWords } from '../words/visible-words.tsx'
import { PauseActs, operates } from './pauses.tsx'

/** The machines with their agents, tasks, labels and versions, and an operator's acts on them. */
export function FleetMachines() {
  const known = new Map(machines.value.map((one) => [one.machine, one]))
  const held = heldByMachine(standing.value)
  const disks = diskByMachine(standing.value)
  const named = standing.value.flatMap(({ status }) => status?.machine ?? [])
  const names = [...new Set([...known.keys(), ...named, ...rules.value.keys()])].filter((name) => name !== wholeHub)
  if (names.length === 0) return null
  const paused = names.filter((name) => rules.value.get(name)?.pause).length
  const skew = versionSkew(fleetVersions(machines.value, standing.value))
  return (
    <details class="fleet">
      <summary>
        {names.length === 1 ? '1 machine' : `${names.length} machines`}
        {paused > 0 ? `, ${paused} paused` : ''}
        {skew === undefined ? '' : ', with different versions'}
      </summary>
      {skew === undefined ? null : <p class="skew">{skew}</p>}
      <ul class="cards">
        {names.toSorted().map((name) => {
          const { version, ...machine } = known.get(name) ?? {}
          const disk = disks.get(name)
          const facts = [
            linkWords(machine),
            version && `termaite ${version}`,
            disk === undefined ? '' : diskWords(disk),
          ]
          return (
            <MachineRow
              key={name}
              rules={rules.value.get(name) ?? { machine: name }}
              tasks={held.get(name) ?? 0}
              facts={facts.filter((fact) => fact !== undefined && fact !== '') as string[]}
            />
          )
        })}
      </ul>
      {operates() && !rules.value.get(wholeHub)?.pause ? (
        <div class="buttons">
          <PauseActs
            pausing={request('POST /api/hub/pause')}
            resuming={request('POST /api/hub/resume')}
            name="the hub"
            words="Pause the hub"
          />
        </div>
      ) : null}
    </details>
  )
}

function MachineRow({ rules: set, tasks, facts }: { rules: MachineRules; tasks: number; facts: string[] }) {
  const [isOpen, setOpen] = useState(false)
  const { machine, labels = [], limit, pause } = set
  const of = limit === undefined ? '' : ` of at most ${limit}`
  const all = [...facts, `${tasks}${of} ${tasks === 1 && limit === undefined ? 'task' : 'tasks'}`]
  return (
    <li>
      <article>
        <h2>
          <VisibleWords text={machine} />
          {pause ? (
            <span class="state paused">
              <VisibleWords text={pauseWords(pause, tasks)} />
            </span>
          ) : null}
        </h2>
        <p class="quiet">
          {all.join(' · ')}
          {labels.length > 0 ? ` · labels ${labels.join(', ')}` : ''}
        </p>
        {operates() ? (
          <div class="buttons acts">
            <PauseActs
              pausing={request('POST /api/machines/:id/pause', { id: machine })}
              resuming={request('POST /api/machines/:id/resume', { id: machine })}
              name={machine}
              pause={pause}
              words="Pause"
            />
            <button
              aria-expanded={isOpen}
              title="The labels of the machine, and the most tasks that its agents have at once"
              onClick={() => setOpen(!isOpen)}
            >
              Labels and limit …
            </button>
          </div>
        ) : null}
        {isOpen ? <RulesForm rules={set} close={() => setOpen(false)} /> : null}
      </article>
    </li>
  )
}

/** The form for the labels and the limit of a machine, in the syntax of `termaite hub machines set`; an empty field means `none`. */
function RulesForm({ rules: set, close }: { rules: MachineRules; close(): void }) {
  const { machine, labels, limit } = set
  const before = { labels: labels?.join(', ') ?? '', limit: limit === undefined ? '' : String(limit) }
  const [typed, setTyped] = useState(before)
  const field = useFocus<HTMLInputElement>()
  const send = () => {
    const next = { labels: labelsIn(typed.labels.trim() || 'none'), limit: limitIn(typed.limit.trim() || 'none') }
    if (next.limit === undefined) {
      refused.value = `The limit of ${machine}: found "${typed.limit}", allowed: ${allowedLimits}`
      return
    }
    const to = request('POST /api/machines/:id/rules', { id: machine })
    const words = rulesWords({
      machine,
      ...(next.labels.length === 0 ? {} : { labels: next.labels }),
      ...(next.limit === 0 ? {} : { limit: next.limit }),
    })
    actWithUndo(words, to, next, () => act(to, { labels: labels ?? [], limit: limit ?? 0 }), close)
  }
  return (
    <form
      class="machine-rules"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
      onKeyDown={(event) => event.key === 'Escape' && close()}
    >
      <label>
        Labels: words that count as capabilities of every agent there, such as docker, gpu
        <input
          ref={field}
          placeholder="none"
          autocapitalize="off"
          value={typed.labels}
          onInput={(event) => setTyped({ ...typed, labels: event.currentTarget.value })}
        />
      </label>
      <label>
        Limit: the most tasks that its agents have at once
        <input
          placeholder="none"
          inputMode="numeric"
          value={typed.limit}
          onInput={(event) => setTyped({ ...typed, limit: event.currentTarget.value })}
        />
      </label>
      <p class="buttons">
        <button type="submit">Set</button>
        <button type="button" onClick={close}>
          Cancel
        </button>
      </p>
    </form>
  )
}
