import type { UsageGroup, UsedTokens } from '../../../core/talk/conversations.ts'
import { useEffect, useState } from 'preact/hooks'
import { address, setFilter } from './address.ts'
import { call } from './hub-connection.ts'
import { count } from './words.ts'

const groups: readonly { name: UsageGroup; title: string }[] = [
  { name: 'agent', title: 'Agent' },
  { name: 'day', title: 'Day' },
  { name: 'project', title: 'Project' },
]

/** Tokens and cost as a table, each row with a bar of its share. */
export function UsageView() {
  const by = groups.find(({ name }) => name === address.value.filters.get('by')) ?? groups[0]!
  const [rows, setRows] = useState<readonly UsedTokens[]>([])
  const [trouble, setTrouble] = useState('')
  useEffect(() => {
    call('GET', `/api/usage?by=${by.name}`).then(
      (read) => setRows(read as UsedTokens[]),
      (error: unknown) => setTrouble(error instanceof Error ? error.message : String(error)),
    )
  }, [by.name])
  const most = Math.max(1, ...rows.map(tokensOf))
  return (
    <section aria-labelledby="usage-title">
      <div class="head">
        <h1 id="usage-title">Usage</h1>
        <p class="buttons" role="group" aria-label="Rows of the table">
          {groups.map(({ name, title }) => (
            <button key={name} aria-pressed={name === by.name} onClick={() => setFilter('by', name)}>
              {title}
            </button>
          ))}
        </p>
      </div>
      {trouble === '' ? null : <p role="alert">{trouble}</p>}
      {rows.length === 0 ? (
        <p class="empty">Nothing was used yet.</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">{by.title}</th>
              <th scope="col" class="number">
                Read
              </th>
              <th scope="col" class="number">
                Written
              </th>
              <th scope="col" class="number">
                Cost
              </th>
              <th scope="col">Share</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.key}>
                <th scope="row">{row.key}</th>
                <td class="number">{count(row.input)}</td>
                <td class="number">{count(row.output)}</td>
                <td class="number">{row.cost === undefined ? 'unknown' : `$${row.cost.toFixed(2)}`}</td>
                <td>
                  <meter min={0} max={most} value={tokensOf(row)} aria-label={`${count(tokensOf(row))} tokens`} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

const tokensOf = ({ input, output }: UsedTokens) => input + output
