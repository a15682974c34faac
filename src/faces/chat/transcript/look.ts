import type { Theme } from '../theme/theme.ts'
import type { Late } from './late.ts'

/** What the blocks are rendered with. */
export type Look = {
  theme: Theme
  late: Late
  /** Whether the terminal can follow a link. */
  links: boolean
}
