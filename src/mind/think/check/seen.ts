/** What came of acting, for whoever judges it. */
export type Done = { task: string; reply: string; patch?: string }

/**
 * `evidence`: what was seen, in words. An error is a failure; `refused`: nobody allowed the look, so that nothing is
 * known either way.
 */
export type Seen = { passed: boolean; evidence: string; refused?: true }
