/** Who is asked first: the one after whoever answered last · whoever answered last · anyone. */
export const strategies = ['round-robin', 'exhaustion', 'random'] as const
export type Strategy = (typeof strategies)[number]
