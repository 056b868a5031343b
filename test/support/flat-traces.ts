/** A frame of `callTracer`. */
type Frame = {
  type: string;
  from: string;
  to: string;
  value?: string;
  error?: string;
  calls?: readonly Frame[];
};
export type CallTrace = { readonly txHash: string; readonly result: Frame | null };

/** Converts traces of `callTracer` to the form of `trace_block`. */
export function flatten(traces: readonly CallTrace[], blockHash: string): object[] {
  const walk = (hash: string, frame: Frame, path: readonly number[]): object[] => {
    const { type, from, to, value = '0x0' } = frame;
    const rest = {
      transactionHash: hash,
      blockHash,
      traceAddress: path,
      ...(frame.error ? { error: frame.error } : {}),
    };
    const own =
      type === 'SELFDESTRUCT'
        ? { type: 'suicide', action: { address: from, refundAddress: to, balance: value } }
        : type.startsWith('CREATE')
          ? { type: 'create', action: { from, value }, result: frame.error ? null : { address: to } }
          : { type: 'call', action: { callType: type.toLowerCase(), from, to, value } };
    const inside = (frame.calls ?? []).flatMap((call, index) => walk(hash, call, [...path, index]));
    return [{ ...own, ...rest }, ...inside];
  };
  return traces.flatMap(({ txHash, result }) => (result === null ? [] : walk(txHash, result, [])));
}
