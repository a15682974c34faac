/** A red pixel, and a sound of no length. */
export const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
export const wav = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA='

export const text = (words: string) => ({ type: 'text' as const, text: words })
export const image = { type: 'image' as const, data: png, mimeType: 'image/png' }

export const resource = (uri: string, mimeType: string, words: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: words },
})

/** A message of the person's in a prompt. */
export const message = <T>(content: T) => ({ role: 'user' as const, content })

export const said = (...content: (ReturnType<typeof text> | object)[]) => ({ content: content as [] })
