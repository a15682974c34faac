import type { WindowOptions, Size } from './program-window.ts'
import { sized } from '../full.ts'

export const sizes: readonly Size[] = [
  { cols: 80, rows: 24 },
  { cols: 120, rows: 40 },
  { cols: 200, rows: 50 },
]

/** Smaller than anybody works in: what is left out may not break what is left. */
export const narrow: readonly Size[] = [
  { cols: 40, rows: 12 },
  { cols: 20, rows: 8 },
]

/** The time is late morning wherever the test runs, so that every time on the screen is of the same day. */
const hours = new Date().getUTCHours() - 11
const env = { TZ: `Etc/GMT${hours < 0 ? hours : `+${hours}`}` }

export const looks: Readonly<Record<string, WindowOptions>> = {
  dark: { env },
  light: { env, background: 'ffff/ffff/ffff' },
  plain: { env: { ...env, NO_COLOR: '1' } },
}

/**
 * The looks in which a sitting at the built program is seen: in the usual run only this one, because the words are the same
 * in all of them and the styles come from one theme. All of them with `FULL=1`, and where frames are written anew;
 * `frames.test.ts` shows the chat in all of them in every run.
 */
export function looksOf(usual: 'dark' | 'light' | 'plain'): [look: string, shown: WindowOptions][] {
  const all = Object.entries(looks)
  return process.env.UPDATE_GOLDEN === '1' ? all : sized([[usual, looks[usual]!]], all)
}
