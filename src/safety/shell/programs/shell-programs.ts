import type { Known } from '../shell-judgement.ts'
import { editors } from './editing-programs.ts'
import { git } from './git-program.ts'
import { lookers } from './looking-programs.ts'
import { packages } from './package-programs.ts'
import { programs } from './other-programs.ts'
import { reaching } from './network-programs.ts'
import { wrappers } from './wrapper-programs.ts'

/** The likely effects of programs, by name. Of two entries for one name, the stricter one comes last and wins. */
export const allKnown: ReadonlyMap<string, Known> = new Map(
  Object.entries({ ...lookers, ...editors, ...programs, ...packages, git, ...reaching, ...wrappers }),
)
