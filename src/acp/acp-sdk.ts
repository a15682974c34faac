export type AcpSdk = typeof import('@agentclientprotocol/sdk')

/** Loads the ACP library only when an editor is served, so that other runs do not load it. */
export const loadAcpSdk = (): Promise<AcpSdk> => import('@agentclientprotocol/sdk')
