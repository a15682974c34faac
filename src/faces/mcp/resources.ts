/** What can be read beside the tools; `bytes` where it is known without reading. */
export type Resource = { uri: string; name: string; description?: string; media: string; bytes?: number }

/** A family of resources: `uri` holds `{names}` of what to fill in. */
export type ResourceFamily = { uri: string; name: string; description?: string; media: string }

/** What a server lets be read: `read` gives undefined for what is not there. */
export interface Resources {
  families: readonly ResourceFamily[]
  list(): Promise<Resource[]>
  read(uri: string): Promise<{ media: string; text: string } | undefined>
}

export const noResources: Resources = { families: [], list: async () => [], read: async () => undefined }
