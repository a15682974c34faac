const letters = '0123456789abcdefghjkmnpqrstvwxyz'

/** A name that no other process makes and that sorts by time: ten letters of time, sixteen of chance. */
export function newId(now: number): string {
  return lettered(now, 10) + randomName()
}

/** A name for a file that no other process uses. */
export function randomName(): string {
  return chance() + chance()
}

/** Forty bits; loading the system's cryptography for them would cost a start more than all else here. */
function chance(): string {
  return lettered(Math.floor(Math.random() * 2 ** 40), 8)
}

function lettered(value: number, count: number): string {
  let text = ''
  for (let rest = value, i = 0; i < count; i++, rest = Math.floor(rest / 32)) text = letters[rest % 32] + text
  return text
}
