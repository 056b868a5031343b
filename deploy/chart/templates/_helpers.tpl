{{- define "tallystick.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "tallystick.labels" -}}
app.kubernetes.io/name: tallystick
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* Of the pods of a role: dict "root" $ "role" "api". */}}
{{- define "tallystick.selector" -}}
app.kubernetes.io/name: tallystick
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end -}}

{{- define "tallystick.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "tallystick.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "tallystick.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* Settings, and where secrets stand: dict "root" $ "user" "api" "settings" (own settings) "keys" (names). */}}
{{- define "tallystick.environment" -}}
{{- range $name, $value := merge (dict) .settings .root.Values.settings }}
- name: {{ $name }}
  value: {{ toString $value | quote }}
{{- end }}
- name: DATABASE_URL_FILE
  value: /run/secrets/tallystick/DATABASE_URL
{{- if and .root.Values.database.replica (eq .user "api") }}
- name: DATABASE_REPLICA_URL_FILE
  value: /run/secrets/tallystick/DATABASE_REPLICA_URL
{{- end }}
{{- range .keys }}
- name: {{ . }}_FILE
  value: /run/secrets/tallystick/{{ . }}
{{- end }}
{{- end -}}

{{/* The address of the database by its user, and the keys of the role, as files. */}}
{{- define "tallystick.secretsVolume" -}}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
      - secret:
          name: {{ .root.Values.database.existingSecret }}
          items:
            - { key: {{ .user }}-url, path: DATABASE_URL }
            {{- if and .root.Values.database.replica (eq .user "api") }}
            - { key: api-replica-url, path: DATABASE_REPLICA_URL }
            {{- end }}
      {{- if .keys }}
      - secret:
          name: {{ .root.Values.secrets.existingSecret }}
          items:
            {{- range .keys }}
            - { key: {{ . }}, path: {{ . }} }
            {{- end }}
      {{- end }}
{{- end -}}
