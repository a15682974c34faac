import type { Io } from '../../../core/io.ts'
import { say, UsageError } from '../../../core/io.ts'

/** When to show a QR code: `usual` shows one if a phone could open the address. */
export type QrWish = 'always' | 'never' | 'usual'

export function qrWish({ qr, 'no-qr': none }: { qr?: unknown; 'no-qr'?: unknown }): QrWish {
  if (qr && none) throw new UsageError('--qr and --no-qr are opposites: use one of them.')
  return qr ? 'always' : none ? 'never' : 'usual'
}

/** Whether only this machine can open an address, and no phone. */
const isOwn = (link: string) => /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(URL.parse(link)?.hostname ?? '')

/** Shows a link as a QR code on the terminal. The code is as secret as the link, so it is only written to a terminal. */
export async function showQr(
  { err, env }: Pick<Io, 'err' | 'env'>,
  link: string,
  wish: QrWish = 'usual',
): Promise<void> {
  if (wish === 'never' || (wish === 'usual' && (isOwn(link) || !err.isTTY))) return
  if (!err.isTTY) return say({ err }, 'A QR code is shown only in a terminal, and this is not one.')
  const { encode } = await import('uqr')
  const { data } = encode(link, { ecc: 'L', border: 2 })
  const [width, height] = [data.length, Math.ceil(data.length / 2)]
  const { columns = 0, rows = Infinity } = err
  if (columns < width || rows <= height) {
    if (wish === 'always')
      say(
        { err },
        `The QR code needs ${width} columns and ${height + 1} rows; this terminal has ${columns} and ${rows}.`,
      )
    return
  }
  err.write(`${qrLines(data, env.NO_COLOR ? 'none' : 'colours').join('\n')}\n`)
}

/**
 * The lines of a QR code, each with two of its rows. With colours it is black on white, whatever the terminal's own colours are; without
 * them it has the terminal's own colours, because most readers also accept a code with light and dark swapped.
 */
export function qrLines(data: readonly (readonly boolean[])[], paint: 'colours' | 'none'): string[] {
  const lines: string[] = []
  for (let at = 0; at < data.length; at += 2) {
    const cells = data[at]!.map((upper, x) => ' ▀▄█'[Number(upper) + 2 * Number(data[at + 1]?.[x] ?? false)]!)
    lines.push(paint === 'none' ? cells.join('') : `\u001b[38;5;16;48;5;231m${cells.join('')}\u001b[0m`)
  }
  return lines
}
