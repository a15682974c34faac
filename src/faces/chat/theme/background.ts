import type { TUI } from '@earendil-works/pi-tui'
import type { Theme } from './theme.ts'
import { dark, light, plain } from './colours.ts'

type Env = Readonly<Record<string, string | undefined>>

/** How long a terminal may take to name its background; nothing waits for it. */
const patienceMs = 1000

/** The theme of the first paint, from what the environment says alone. */
export function firstTheme(env: Env): Theme {
  if (env.NO_COLOR) return plain
  return hinted(env) ?? dark
}

type Asked = Pick<
  TUI,
  'queryTerminalBackgroundColor' | 'onTerminalColorSchemeChange' | 'setTerminalColorSchemeNotifications'
>

/** Turns the theme to what the terminal says of its own background, now and when that changes. */
export async function keepTheme(tui: Asked, env: Env, turn: (to: Theme) => void): Promise<void> {
  if (env.NO_COLOR) return
  tui.onTerminalColorSchemeChange((scheme) => turn(scheme === 'light' ? light : dark))
  tui.setTerminalColorSchemeNotifications(true)
  const rgb = await tui.queryTerminalBackgroundColor({ timeoutMs: patienceMs })
  // Perceived brightness: green weighs most.
  if (rgb) turn(0.299 * rgb.r + 0.587 * rgb.g + 0.114 * rgb.b > 127 ? light : dark)
}

/** COLORFGBG is `fg;bg`, or `fg;x;bg`: 7 and 9 to 15 are light ones. */
function hinted(env: Env): Theme | undefined {
  const background = env.COLORFGBG?.split(';').at(-1)
  if (background === undefined || !/^\d+$/.test(background)) return undefined
  return Number(background) === 7 || Number(background) > 8 ? light : dark
}
