import type { UsageGroup, UsedAmounts } from '../../../core/turns/conversations.ts'
import { shortCount } from '../../../chat/style/numbers.ts'
import { count } from '../words/words.ts'

const width = 1_000
const height = 220
const margin = { left: 64, right: 8, top: 12, bottom: 28 }
/** The most bars that are drawn: the agents or projects with the most tokens, or the newest days. */
const mostBars = 120

const tokensOf = ({ input, output }: UsedAmounts) => input + output

/** A round number not below the largest value, for the upper end of the axis. */
function axisTop(largest: number): number {
  if (largest <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(largest))
  return [1, 2, 5, 10].map((step) => step * power).find((top) => top >= largest)!
}

/** Tokens as bars, input tokens below and output tokens on top; the table has the same numbers. */
export function UsageChart({ rows, by }: { rows: readonly UsedAmounts[]; by: UsageGroup }) {
  if (rows.length === 0) return null
  const bars =
    by === 'day' ? rows.slice(-mostBars) : rows.toSorted((a, b) => tokensOf(b) - tokensOf(a)).slice(0, mostBars)
  const top = axisTop(Math.max(...bars.map(tokensOf)))
  const room = { wide: width - margin.left - margin.right, high: height - margin.top - margin.bottom }
  const step = room.wide / Math.max(bars.length, 3)
  const thick = Math.min(64, step * 0.72)
  const tall = (tokens: number) => (tokens / top) * room.high
  const floor = margin.top + room.high
  const every = Math.ceil(bars.length / Math.max(1, Math.floor(room.wide / 96)))
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-labelledby="usage-chart-title">
        <title id="usage-chart-title">{`Tokens by ${by}: ${bars.map((row) => `${row.key} ${count(tokensOf(row))}`).join(', ')}`}</title>
        {[0, 0.5, 1].map((part) => (
          <g key={part}>
            <line
              class="grid"
              x1={margin.left}
              x2={width - margin.right}
              y1={floor - part * room.high}
              y2={floor - part * room.high}
            />
            <text class="scale" x={margin.left - 8} y={floor - part * room.high + 4} text-anchor="end">
              {shortCount(Math.round(top * part))}
            </text>
          </g>
        ))}
        {bars.map((row, at) => {
          const x = margin.left + at * step + (step - thick) / 2
          return (
            <g key={row.key}>
              <title>{`${row.key}: ${count(row.input)} read, ${count(row.output)} written`}</title>
              <rect class="read" x={x} y={floor - tall(row.input)} width={thick} height={tall(row.input)} />
              <rect class="written" x={x} y={floor - tall(tokensOf(row))} width={thick} height={tall(row.output)} />
              {at % every === 0 ? (
                <text class="label" x={x + thick / 2} y={height - 8} text-anchor="middle">
                  {labelOf(row.key, by)}
                </text>
              ) : null}
            </g>
          )
        })}
      </svg>
      <figcaption class="quiet">
        <span class="key read" aria-hidden="true" /> tokens read <span class="key written" aria-hidden="true" /> tokens
        written
      </figcaption>
    </figure>
  )
}

const longestLabel = 14

function labelOf(key: string, by: UsageGroup): string {
  const short = by === 'day' ? key.slice(5) : by === 'project' ? (key.split('/').at(-1) ?? key) : key
  return short.length <= longestLabel ? short : `${short.slice(0, longestLabel - 1)}…`
}
