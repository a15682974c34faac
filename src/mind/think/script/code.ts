import type { SystemSpec } from '../../../core/work/system-spec.ts'

export type Language = 'python' | 'node'

/** `by`: who wrote it. */
export type Script = { language: Language; code: string; by: string }

/** What a script can be written in here, the better one for data first; Node is what we run on. */
export const languagesOf = ({ runtimes }: Pick<SystemSpec, 'runtimes'>): Language[] =>
  runtimes.python ? ['python', 'node'] : ['node']
