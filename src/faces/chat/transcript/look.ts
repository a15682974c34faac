import type { Theme } from '../theme/theme.ts'
import type { Late } from './late.ts'

/** What the blocks are rendered with. */
export type Look = {
  theme: Theme
  late: Late
  /** Whether the terminal can follow a link. */
  links: boolean
  /** Whether the border goes down its sides. */
  sides: boolean
}

/** Not every terminal follows links; some print them. */
export function canLink({ TERM, STY }: Readonly<Record<string, string | undefined>>): boolean {
  return TERM !== undefined && TERM !== 'dumb' && TERM !== 'linux' && STY === undefined
}
