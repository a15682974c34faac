export type Library = typeof import('@modelcontextprotocol/server')

/** The library, loaded when a server is opened: no other run pays for it. */
export const sdk = (): Promise<Library> => import('@modelcontextprotocol/server')
