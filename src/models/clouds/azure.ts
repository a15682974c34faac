import type { Cloud, CloudWorld } from './cloud.ts'
import type { Carriage, Login, Trouble } from '../http/wire-format.ts'
import { readFile } from 'node:fs/promises'
import { missing, authFailure } from './cloud.ts'
import { ExpiringLogin, sharedLogin, tokenIn } from './expiring-login.ts'

/** How a request authenticates. */
type Access = {
  login: Login
  headers(signal: AbortSignal): Promise<Record<string, string> | { trouble: Trouble }>
  forget?(): boolean
}

/** Azure OpenAI and Microsoft Foundry, through their `v1` addresses: the model of a request is the name of a deployment. */
export const azure: Cloud = {
  async open(_model, wire, world) {
    const resource = resourceOf(world)
    if (resource === undefined)
      return missing(
        'Azure needs the address of your resource: set AZURE_OPENAI_ENDPOINT (https://<resource>.openai.azure.com), or AZURE_OPENAI_RESOURCE to its name, or write `baseURL` into the agent’s settings.',
      )
    const access = accessOf(world)
    if ('none' in access) return authFailure(access.none)
    const { login, headers: loginHeaders, forget } = access
    return {
      login,
      base:
        wire === 'anthropic'
          ? `${resource.replace('.openai.azure.com', '.services.ai.azure.com')}/anthropic/v1`
          : `${resource}/openai/v1`,
      renew: () => forget?.() ?? false,
      async pack({ url, headers, body }, signal) {
        const found = await loginHeaders(signal)
        if ('trouble' in found) return found as { trouble: Trouble }
        const { authorization: _a, 'x-api-key': _b, ...rest } = headers
        return { url, headers: { ...rest, ...found }, body }
      },
    } satisfies Carriage
  },
}

/** The address of the person's resource, without the part that all its APIs share. */
function resourceOf({ baseURL, env }: CloudWorld): string | undefined {
  const named = baseURL ?? (env.AZURE_OPENAI_ENDPOINT || env.AZURE_OPENAI_BASE_URL)
  if (named) return named.replace(/\/+$/, '').replace(/\/(openai|anthropic)(\/v1)?$/, '')
  const name = env.AZURE_OPENAI_RESOURCE || env.AZURE_RESOURCE_NAME
  return name ? `https://${name}.openai.azure.com` : undefined
}

/** Finds the key of the resource, otherwise a token of Entra ID, otherwise an application that can get a token. */
function accessOf(world: CloudWorld): Access | { none: string } {
  const { env, key, learn } = world
  if (key)
    return {
      login: {
        words: `the Azure key in ${key.place}`,
        next: 'Copy a key of this resource from the Azure portal (Keys and Endpoint), and set AZURE_OPENAI_API_KEY to it or type /connect azure in the chat.',
      },
      headers: async () => ({ 'api-key': key.value }),
    }
  const token = env.AZURE_OPENAI_AD_TOKEN
  if (token) {
    learn?.('Azure', token)
    return {
      login: {
        words: 'the Entra ID token in AZURE_OPENAI_AD_TOKEN',
        next: 'Such a token expires after about an hour: get a new one with `az account get-access-token --scope https://ai.azure.com/.default`, and start termaite with it.',
      },
      headers: async () => ({ authorization: `Bearer ${token}` }),
    }
  }
  return (
    fromApplication(world) ?? {
      none: 'There are no Azure credentials: set AZURE_OPENAI_API_KEY to a key of the resource, or AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET to those of an application, or AZURE_OPENAI_AD_TOKEN to what `az account get-access-token --scope https://ai.azure.com/.default` prints.',
    }
  )
}

/** An application of Entra ID, which authenticates with its secret, or with the token that its platform writes to a file. */
function fromApplication({ env, clock, fetch, learn }: CloudWorld): Access | undefined {
  const {
    AZURE_TENANT_ID: tenant,
    AZURE_CLIENT_ID: client,
    AZURE_CLIENT_SECRET: secret,
    AZURE_FEDERATED_TOKEN_FILE: file,
  } = env
  if (!tenant || !client || (!secret && !file)) return undefined
  if (secret) learn?.('Azure', secret)
  const login = {
    words: `the application ${client} (AZURE_CLIENT_ID with ${secret ? 'AZURE_CLIENT_SECRET' : 'AZURE_FEDERATED_TOKEN_FILE'})`,
    next: 'Check that its secret has not expired, and that it has the role "Cognitive Services OpenAI User" for the resource.',
  }
  const host = (env.AZURE_AUTHORITY_HOST || 'https://login.microsoftonline.com').replace(/\/+$/, '')
  const token = sharedLogin(
    env,
    `azure ${host} ${tenant} ${client}`,
    () =>
      new ExpiringLogin<string>(clock, async (signal) => {
        const proof: Record<string, string> = secret
          ? { client_secret: secret }
          : {
              client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
              client_assertion: (await readFile(file!, 'utf8')).trim(),
            }
        const form = {
          grant_type: 'client_credentials',
          client_id: client,
          scope: 'https://ai.azure.com/.default',
          ...proof,
        }
        const headers = { 'content-type': 'application/x-www-form-urlencoded' }
        const body = new URLSearchParams(form).toString()
        const reply = await fetch(`${host}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`, {
          method: 'POST',
          headers,
          body,
          signal,
        })
        return tokenIn(reply, await reply.text(), { who: 'Azure', now: clock.now(), learn })
      }),
  )
  return {
    login,
    async headers(signal) {
      const found = await token.get(signal)
      return 'trouble' in found ? found : { authorization: `Bearer ${found.value}` }
    },
    forget: () => token.forget(),
  }
}
