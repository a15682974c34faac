/** Whose turns these are: everybody's, our own agents', or our own agents' that only plan. */
export type WorkMode = 'chat' | 'agent' | 'plan'
