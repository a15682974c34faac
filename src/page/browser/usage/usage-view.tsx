import type { AwayAgent, UsageGroup, UsedAmounts } from '../../../core/turns/conversations.ts'
import { useEffect, useState } from 'preact/hooks'
import { duration } from '../../../chat/style/numbers.ts'
import { address, setFilter } from '../frame/page-address.ts'
import { call } from '../hub/page-connection.ts'
import { request } from '../hub/page-request.ts'
import { UsageChart } from './usage-chart.tsx'
import { dayMs, filledDays, rangeNamed, ranges, since } from './usage-range.ts'
import { count, moment, now } from '../words/words.ts'

const groups: readonly { name: UsageGroup; title: string }[] = [
  { name: 'agent', title: 'Agent' },
  { name: 'day', title: 'Day' },
  { name: 'project', title: 'Project' },
]

type Usage = { rows: UsedAmounts[]; away: AwayAgent[] }

/** The reader's own time zone, by whose days the hub counts. */
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** Tokens, cost, turns, failures and time without quota, as a chart and as a table; and the quotas that are used up. */
export function UsageView() {
  const { filters } = address.value
  const by = groups.find(({ name }) => name === filters.get('by')) ?? groups[0]!
  const range = rangeNamed(filters.get('range'))
  const [usage, setUsage] = useState<Usage | undefined>(undefined)
  const [trouble, setTrouble] = useState('')
  // The numbers of today are loaded again every minute, because they grow.
  const minute = Math.floor(now.value / 60_000)
  useEffect(() => {
    let isOver = false
    const from = since(range, Date.now())
    call(request('GET /api/usage'), { by: by.name, since: from, zone }).then(
      (read) => {
        if (isOver) return
        setUsage(read)
        setTrouble('')
      },
      (error: unknown) => setTrouble(error instanceof Error ? error.message : String(error)),
    )
    return () => {
      isOver = true
    }
  }, [by.name, range.name, minute])
  const rows = usage?.rows ?? []
  const shown = by.name === 'day' ? filledDays(rows, range, Date.now()) : rows
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
        <p class="buttons" role="group" aria-label="Time">
          {ranges.map(({ name, title }) => (
            <button key={name} aria-pressed={name === range.name} onClick={() => setFilter('range', name)}>
              {title}
            </button>
          ))}
        </p>
      </div>
      {trouble === '' ? null : <p role="alert">{trouble}</p>}
      <AwayList away={usage?.away ?? []} />
      {usage && rows.length === 0 ? (
        <p class="empty">Nothing was used in this time. Every turn of an agent on this machine is counted here.</p>
      ) : (
        <>
          <UsageChart rows={shown} by={by.name} />
          <UsageTable rows={by.name === 'day' ? rows.toReversed() : rows} title={by.title} />
        </>
      )}
    </section>
  )
}

const awayWords: Record<AwayAgent['as'], string> = {
  parked: 'is out of quota',
  busy: 'is busy',
  'cooling down': 'has failed too often and rests',
}

function AwayList({ away }: { away: readonly AwayAgent[] }) {
  if (away.length === 0) return null
  return (
    <ul class="away" aria-label="Agents that are not asked now">
      {away.map(({ agent, as, until, why }) => (
        <li key={agent}>
          <strong>{agent}</strong> {awayWords[as]} until{' '}
          <time dateTime={new Date(until).toISOString()}>{moment(until)}</time>
          {until - now.value > dayMs ? '' : `, for ${duration(until - now.value)} more`}.{' '}
          {why === undefined ? null : <span class="quiet">{why}</span>}
        </li>
      ))}
    </ul>
  )
}

function UsageTable({ rows, title }: { rows: readonly UsedAmounts[]; title: string }) {
  const sum = (amount: (row: UsedAmounts) => number) => rows.reduce((all, row) => all + amount(row), 0)
  const isPriced = rows.some(({ cost }) => cost !== undefined)
  return (
    <div class="wide" tabindex={0} role="region" aria-label="Usage as a table">
      <table>
        <thead>
          <tr>
            <th scope="col">{title}</th>
            {['Read', 'Written', 'Cost', 'Turns', 'Failed tries', 'Out of quota'].map((head) => (
              <th key={head} scope="col" class="number">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key}>
              <th scope="row">{row.key}</th>
              <td class="number">{count(row.input)}</td>
              <td class="number">{count(row.output)}</td>
              <td class="number">{row.cost === undefined ? 'unknown' : `$${row.cost.toFixed(2)}`}</td>
              <td class="number">{count(row.turns)}</td>
              <td class="number">{count(row.failures)}</td>
              <td class="number">{row.parkedMs === 0 ? '' : duration(row.parkedMs)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">All</th>
            <td class="number">{count(sum(({ input }) => input))}</td>
            <td class="number">{count(sum(({ output }) => output))}</td>
            <td class="number">{isPriced ? `$${sum(({ cost = 0 }) => cost).toFixed(2)}` : 'unknown'}</td>
            <td class="number">{count(sum(({ turns }) => turns))}</td>
            <td class="number">{count(sum(({ failures }) => failures))}</td>
            <td class="number">{duration(sum(({ parkedMs }) => parkedMs))}</td>
          </tr>
        </tfoot>
      </table>
    </div>
  )
}
