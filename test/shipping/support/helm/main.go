// Renders a Helm chart as Helm does: text/template with the functions of sprig and Helm's own few, over the chart's values
// and those on standard input. Debian has the libraries, but not Helm. Writes each template's text by its name, as JSON.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"github.com/ghodss/yaml"
)

type object = map[string]interface{}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(path string) object {
	text, err := os.ReadFile(path)
	check(err)
	var found object
	check(yaml.Unmarshal(text, &found))
	return found
}

// As Helm's: what the user gives beats what the chart has, key by key; null takes a key away.
func merge(chart, given object) object {
	for key, value := range given {
		inner, isObject := value.(object)
		if below, has := chart[key].(object); isObject && has {
			chart[key] = merge(below, inner)
		} else if value == nil {
			delete(chart, key)
		} else {
			chart[key] = value
		}
	}
	return chart
}

func toYAML(value interface{}) string {
	text, err := yaml.Marshal(value)
	check(err)
	return strings.TrimSuffix(string(text), "\n")
}

func main() {
	chart, release := os.Args[1], os.Args[2]
	given := object{}
	check(json.NewDecoder(os.Stdin).Decode(&given))
	about := read(filepath.Join(chart, "Chart.yaml"))

	all := template.New("chart").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	delete(functions, "env")
	delete(functions, "expandenv")
	functions["toYaml"] = toYAML
	functions["include"] = func(name string, data interface{}) (string, error) {
		var text strings.Builder
		err := all.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	functions["fail"] = func(message string) (string, error) { return "", errors.New(message) }
	functions["required"] = func(message string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return nil, errors.New(message)
		}
		return value, nil
	}
	all.Funcs(functions)

	paths, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	check(err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		check(err)
		_, err = all.New(filepath.Base(path)).Parse(string(text))
		check(err)
	}
	data := object{
		"Values":  merge(read(filepath.Join(chart, "values.yaml")), given),
		"Chart":   object{"Name": about["name"], "Version": about["version"], "AppVersion": about["appVersion"]},
		"Release": object{"Name": release, "Namespace": "default", "Service": "Helm"},
	}
	rendered := map[string]string{}
	for _, path := range paths {
		name := filepath.Base(path)
		if strings.HasPrefix(name, "_") {
			continue
		}
		var text strings.Builder
		check(all.ExecuteTemplate(&text, name, data))
		rendered[name] = strings.ReplaceAll(text.String(), "<no value>", "")
	}
	check(json.NewEncoder(os.Stdout).Encode(rendered))
}
