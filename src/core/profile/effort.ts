/** How hard a model thinks. A model or a CLI with fewer levels gets the nearest one. */
export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'
export const efforts: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** The nearest level that a model or a CLI supports; of two that are equally near, the lower one. */
export function nearestEffort(wanted: Effort, known: readonly Effort[]): Effort | undefined {
  const away = (one: Effort) => Math.abs(efforts.indexOf(one) - efforts.indexOf(wanted))
  return [...known].sort((a, b) => away(a) - away(b) || efforts.indexOf(a) - efforts.indexOf(b))[0]
}
