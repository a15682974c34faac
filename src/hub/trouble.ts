/** What the hub does not do, in words for whoever asked: there is no such thing · it is another's or in another state · the wish itself is wrong. */
export class HubError extends Error {
  override name = 'HubError'
  readonly kind: 'missing' | 'conflict' | 'wrong'

  constructor(kind: HubError['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}
