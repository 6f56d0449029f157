{{- define "sightline.name" -}}
{{- if contains "sightline" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-sightline{{ end }}
{{- end }}

{{- define "sightline.selector" -}}
app.kubernetes.io/name: sightline
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "sightline.labels" -}}
{{ include "sightline.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "sightline.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{- /* What each pod needs to be reached and to leave the Service in time; what the values say beats it. */}}
{{- define "sightline.config" -}}
{{- $listen := dict "host" "0.0.0.0" "port" 8080 "leaveSeconds" 15 }}
{{- $config := dict "publicUrl" (required "Set publicUrl, where clients reach the gateway: --set publicUrl=https://mcp.example.com" .Values.publicUrl) "trustProxy" 1 "listen" $listen }}
{{- if .Values.metrics.enabled }}
{{- $_ := set $config "ownTelemetry" (dict "prometheus" (dict "enabled" true "host" "0.0.0.0" "port" .Values.metrics.port)) }}
{{- end }}
{{- mergeOverwrite $config (deepCopy .Values.config) | toYaml }}
{{- end }}

{{- define "sightline.checkReplicas" -}}
{{- $storage := .Values.config.storage | default dict }}
{{- $telemetry := .Values.config.telemetry | default dict }}
{{- if gt (int .Values.replicas) 1 }}
{{- if not (has $storage.client (list "postgres" "mysql")) }}
{{- fail "replicas: each pod would have a workspace of its own. Set config.storage.client to postgres or mysql, or replicas to 1." }}
{{- end }}
{{- if eq ($telemetry.plugin | default "duckdb") "duckdb" }}
{{- fail "replicas: each pod would have telemetry of its own. Set config.telemetry.plugin to a warehouse, or replicas to 1." }}
{{- end }}
{{- end }}
{{- end }}
