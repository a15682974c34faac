const letters = '0123456789abcdefghjkmnpqrstvwxyz'

/** A name that no other process makes and that sorts by time: ten letters of time, sixteen of chance. */
export function newId(now: number): string {
  let time = ''
  for (let rest = now, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) time = letters[rest % 32] + time
  let chance = ''
  for (const byte of crypto.getRandomValues(new Uint8Array(16))) chance += letters[byte % 32]
  return time + chance
}
