import type { TerminalRow } from '../../../core/screen/machine-terminals.ts'
import { useEffect } from 'preact/hooks'
import { address, setFilter } from '../frame/page-address.ts'
import { rowClass } from '../frame/list-keys.ts'
import { MachinesLine } from '../frame/machines-line.tsx'
import { preview, previews, terminals, useTerminals } from './terminal-connection.ts'
import { TerminalPanel } from './terminal-panel.tsx'
import { ago } from '../words/words.ts'

const terminalLink = (id: string) => `#/terminals/${encodeURIComponent(id)}`

/** Previews of the terminals of all machines, or one open terminal with others beside it. */
export function TerminalsView({ id }: { id?: string }) {
  useTerminals()
  if (id !== undefined) return <OpenTerminals id={id} />
  return <TerminalList />
}

function TerminalList() {
  const rows = terminals.value
  const ids = (rows ?? []).map((row) => row.id)
  useEffect(() => preview(ids), [ids.join()])
  useEffect(() => () => preview([]), [])
  return (
    <section aria-labelledby="terminals-title">
      <h1 id="terminals-title">Terminals</h1>
      <MachinesLine what="terminals" />
      {rows === undefined ? <p class="quiet">Reading …</p> : null}
      {rows?.length === 0 ? (
        <p class="empty">
          No agent runs in a terminal. Start one with <code>termaite agent</code>, or a crew with{' '}
          <code>termaite crew spawn</code>.
        </p>
      ) : null}
      <ul class="cards terminals">
        {rows?.map((row) => (
          <li class={rowClass} key={row.id}>
            <TerminalCard row={row} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function TerminalCard({ row }: { row: TerminalRow }) {
  const { id, name, agent, project, machine, state, since, task } = row
  const rows = previews.value.get(id)
  return (
    <article>
      <h2>
        <a href={terminalLink(id)}>{name}</a>
        <span class="badge">{agent}</span>
        <span class={`state ${state}`}>{state}</span>
      </h2>
      <p class="quiet">
        {project} · {machine} · {ago(since)}
      </p>
      {task === undefined ? null : <p>{task}</p>}
      <pre class="preview">
        {rows === undefined ? (row.keys ? '…' : 'The agent has yet to start.') : rows.join('\n')}
      </pre>
    </article>
  )
}

/** One terminal, and the others that the address names, beside it. */
function OpenTerminals({ id }: { id: string }) {
  const all = terminals.value
  const beside = (address.value.filters.get('beside') ?? '').split(' ').filter((each) => each !== '' && each !== id)
  const shown = [id, ...beside].map((each) => all?.find((row) => row.id === each) ?? goneRow(each))
  const others = (all ?? []).filter((row) => !shown.some((each) => each.id === row.id))
  return (
    <section aria-labelledby="terminal-title" class="open-terminals view-keys">
      <div class="head">
        <h1 id="terminal-title">{shown[0]!.name}</h1>
        <p class="buttons">
          <a href="#/terminals">All terminals</a>
          {others.length === 0 ? null : (
            <label>
              Show beside it{' '}
              <select
                value=""
                onChange={({ currentTarget }) => setFilter('beside', [...beside, currentTarget.value].join(' '))}
              >
                <option value="">choose a terminal</option>
                {others.map((row) => (
                  <option value={row.id}>
                    {row.name} · {row.agent} · {row.machine}
                  </option>
                ))}
              </select>
            </label>
          )}
          {beside.length === 0 ? null : <button onClick={() => setFilter('beside', '')}>Show one alone</button>}
        </p>
      </div>
      {all === undefined ? (
        <p class="quiet">Reading …</p>
      ) : (
        shown.map((row) => <TerminalPanel key={row.id} row={row} isAlone={shown.length === 1} />)
      )}
    </section>
  )
}

/** A row for a terminal that is no longer listed. */
function goneRow(id: string): TerminalRow {
  const about = { name: 'A terminal that is gone', agent: '', machine: '', project: '', kind: 'crew' } as const
  return { id, ...about, state: 'gone', since: 0, keys: false }
}

/** The terminal of an agent, found by the agent's name at the hub. */
export function AgentTerminal({ agent }: { agent: string }) {
  useTerminals()
  const rows = (terminals.value ?? []).filter(({ hubAgent }) => hubAgent === agent)
  if (rows.length === 0) return null
  return (
    <div class="view-keys">
      {rows.map((row) => (
        <TerminalPanel key={row.id} row={row} isAlone={rows.length === 1} />
      ))}
    </div>
  )
}

/** A link from an agent to its terminal; nothing if no machine shows one. */
export function AgentTerminalLink({ agent }: { agent: string }) {
  useTerminals()
  const row = (terminals.value ?? []).find(({ hubAgent }) => hubAgent === agent)
  return row ? (
    <p>
      <a href={terminalLink(row.id)}>Open its terminal</a>
    </p>
  ) : null
}
