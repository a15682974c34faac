import type { CloudName, Provider } from '../provider.ts'
import type { Cloud, CloudWorld } from './cloud.ts'
import { defined } from '../../base/defined.ts'

/** Opens a cloud; its code is loaded when one of its models is used. */
export async function openCloud(name: CloudName): Promise<Cloud> {
  if (name === 'bedrock') return (await import('./bedrock.ts')).bedrock
  if (name === 'vertex') return (await import('./vertex.ts')).vertex
  return (await import('./azure.ts')).azure
}

type Surroundings = Omit<CloudWorld, 'home' | 'key'> & { key?: string }

/** The environment in which a cloud looks for its login, with the key and the description of its source. */
export function cloudWorld({ keys }: Provider, { key, ...world }: Surroundings): CloudWorld {
  const { env } = world
  const place = key && [...keys, ...Object.keys(env)].find((name) => env[name]?.trim() === key)
  const found = key ? { value: key, place: place || 'termaite’s key store' } : undefined
  return defined({ ...world, home: env.HOME ?? '', key: found })
}
