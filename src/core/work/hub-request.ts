/** A change that a client may request again under the same name, and the answer to it, if it is known. */
export type KeptRequest = {
  /** The name of the request, made of the client, the change and the client's own key for it. */
  name: string
  /** Identifies this execution of the request; random. */
  run: string
  /** SHA-256 of the body, in hex. */
  body: string
  at: number
  /** The answer, sealed so that only the client can read it; missing until the change was made. */
  answer?: string
}

/** The memory of requests. Every change is durable when its promise resolves. */
export interface HubRequestBook {
  /** Stores a new request and returns it; if one with its name is stored, returns that one. Forgets those that began before a time. */
  begin(request: Omit<KeptRequest, 'answer'>, begunBefore: number): Promise<KeptRequest>
  /** Stores the answer to a request. */
  answer(name: string, answer: string): Promise<void>
  /** Removes a request that was not carried out, unless it was started again since. */
  forget(name: string, run: string): Promise<void>
}
