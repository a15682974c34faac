import type { Counted } from './wire.ts'
import type { Price } from './windows.ts'

/** What an answer cost in dollars: as its provider says, else by the price, else it is not known. */
export function costOf(counted: Counted, price: Price | undefined): number | undefined {
  if (counted.cost !== undefined) return counted.cost
  if (!price) return undefined
  const { input, cached, output, written = 0 } = counted
  const rate = price.over && input > price.over.tokens ? price.over : price
  const fresh = input - cached - written
  const dollars =
    fresh * rate.input + cached * rate.cached + written * (rate.written ?? rate.input) + output * rate.output
  // A billionth of a dollar is as exact as prices are.
  return Math.round(dollars * 1000) / 1e9
}
