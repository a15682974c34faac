/** `touched`: when a person last pressed a key; `told`: when we last typed something; `composer`: what stands where one types. */
export type Hands = { touched: number; told: number; composer: string | undefined; now: number }

export const handsMs = 30_000

/** A line that nobody went on with for so long was left behind, and a night's work does not wait for it. */
const abandonedMs = 10 * 60_000

/** How long the keys belong to the person yet; 0 when they are free. */
export function handsOn({ touched, told, composer, now }: Hands): number {
  const away = now - touched
  // What came back to the composer after we typed it is nobody's half a line.
  const half = touched > told && (composer ?? '') !== ''
  return Math.max(0, (half ? abandonedMs : handsMs) - away)
}
