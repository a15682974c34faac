/** How often the hub sends something on every connection of a page; proxies cut a connection that is silent for longer. */
export const heartbeatMs = 15_000
/** A connection that is silent for this long is dead, for example after a laptop slept. */
export const silenceMs = 40_000
