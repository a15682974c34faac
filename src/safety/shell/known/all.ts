import type { Known } from '../reading.ts'
import { editors } from './editors.ts'
import { git } from './git.ts'
import { packages } from './packages.ts'
import { programs } from './programs.ts'
import { reaching } from './reaching.ts'
import { readers } from './readers.ts'
import { wrappers } from './wrappers.ts'

/** Every program that is known, by its name; the more careful reading of two stands last. */
export const allKnown: ReadonlyMap<string, Known> = new Map(
  Object.entries({ ...readers, ...editors, ...programs, ...packages, git, ...reaching, ...wrappers }),
)
